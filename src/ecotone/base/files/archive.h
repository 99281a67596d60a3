#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ecotone/base/index.h"

namespace ecotone {

/// Values as bytes and back, exactly, for records that the same program reads again (journal.h). A type of our own has
/// one function that names its parts, for both directions:
///
///     template <class Archive>
///     void archive(Archive& with, Outcome& outcome) {
///       with(outcome.repetition, outcome.rows);
///     }
///
/// or a member archive(with) of its own. Known already: numbers, enums, texts, vectors, pairs, optionals and dense
/// matrices.
namespace archives {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Eigen's dense types, which this layer does not know.
template <class T>
concept Dense = requires(T m) {
  m.resize(Index{}, Index{});
  m.rows();
  m.cols();
  m.data();
};

template <class Archive, class T>
void pass(Archive& with, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    std::uint8_t byte = value ? 1 : 0;
    with.bytes(&byte, 1);
    with.require(byte <= 1);
    value = byte == 1;
  } else if constexpr (Plain<T>) {
    with.bytes(&value, sizeof(T));
  } else if constexpr (Dense<T>) {
    Index rows = value.rows();
    Index cols = value.cols();
    with(rows, cols);
    with.reshape(value, rows, cols);
    with.bytes(value.data(), static_cast<std::size_t>(value.size()) * sizeof(*value.data()));
  } else if constexpr (requires { value.archive(with); }) {
    value.archive(with);
  } else {
    archive(with, value);
  }
}

template <class Archive>
void pass(Archive& with, std::string& text) {
  with.resize(text);
  with.bytes(text.data(), text.size());
}

template <class Archive, class T>
void pass(Archive& with, std::vector<T>& list) {
  with.resize(list);
  if constexpr (Plain<T>) {
    with.bytes(list.data(), list.size() * sizeof(T));
  } else {
    for (T& one : list) with(one);
  }
}

template <class Archive>
void pass(Archive& with, std::vector<bool>& list) {
  with.resize(list);
  for (std::size_t i = 0; i < list.size(); ++i) {
    bool one = list[i];
    with(one);
    list[i] = one;
  }
}

template <class Archive, class A, class B>
void pass(Archive& with, std::pair<A, B>& both) {
  with(both.first, both.second);
}

template <class Archive, class T>
void pass(Archive& with, std::optional<T>& value) {
  bool there = value.has_value();
  with(there);
  if (!there) return value.reset();
  if (!value) value.emplace();
  with(*value);
}

}  // namespace archives

/// Appends values to a text of bytes.
class ArchiveWriter {
 public:
  template <class... T>
  void operator()(T&... values) {
    (archives::pass(*this, values), ...);
  }
  const std::string& text() const { return text_; }

  void bytes(const void* from, std::size_t size) {
    if (size > 0) text_.append(static_cast<const char*>(from), size);
  }
  template <class List>
  void resize(List& list) {
    std::uint64_t size = list.size();
    bytes(&size, sizeof size);
  }
  template <class Matrix>
  void reshape(Matrix&, Index, Index) {}
  void require(bool) {}

 private:
  std::string text_;
};

/// Takes values from bytes. Never reads or allocates beyond what the bytes can hold: it throws Damaged instead.
class ArchiveReader {
 public:
  struct Damaged {};
  explicit ArchiveReader(std::string_view text) : left_(text) {}

  template <class... T>
  void operator()(T&... values) {
    (archives::pass(*this, values), ...);
  }
  bool at_end() const { return left_.empty(); }

  void bytes(void* to, std::size_t size) {
    require(size <= left_.size());
    if (size > 0) std::memcpy(to, left_.data(), size);
    left_.remove_prefix(size);
  }
  template <class List>
  void resize(List& list) {
    std::uint64_t size = 0;
    bytes(&size, sizeof size);
    require(size <= left_.size());  // every value takes a byte at least
    list.resize(size);
  }
  template <class Matrix>
  void reshape(Matrix& matrix, Index rows, Index cols) {
    const auto most = static_cast<Index>(left_.size() / sizeof(*matrix.data()));
    require(rows >= 0 && cols >= 0 && (rows == 0 || cols <= most / rows));
    matrix.resize(rows, cols);
  }
  void require(bool whole) const {
    if (!whole) throw Damaged{};
  }

 private:
  std::string_view left_;
};

/// Counts the bytes of values.
class ArchiveSize {
 public:
  template <class... T>
  void operator()(T&... values) {
    (archives::pass(*this, values), ...);
  }
  std::size_t size() const { return size_; }

  void bytes(const void*, std::size_t size) { size_ += size; }
  template <class List>
  void resize(List&) {
    size_ += sizeof(std::uint64_t);
  }
  template <class Matrix>
  void reshape(Matrix&, Index, Index) {}
  void require(bool) {}

 private:
  std::size_t size_ = 0;
};

/// How many bytes archived() would give.
template <class T>
std::size_t archived_size(T& value) {
  ArchiveSize counter;
  counter(value);
  return counter.size();
}

/// The bytes of a value.
template <class T>
std::string archived(T& value) {
  ArchiveWriter writer;
  writer(value);
  return writer.text();
}

/// The value of these bytes; none if they are not those of such a value.
template <class T>
std::optional<T> unarchived(std::string_view text) {
  T value{};
  try {
    ArchiveReader reader(text);
    reader(value);
    return reader.at_end() ? std::optional<T>(std::move(value)) : std::nullopt;
  } catch (const ArchiveReader::Damaged&) {
    return std::nullopt;
  }
}

}  // namespace ecotone
