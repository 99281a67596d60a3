#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/files/tensor_file.h"
#include "ecotone/base/files/tensor_header.h"
#include "ecotone/base/json.h"

namespace ecotone {

namespace {

std::size_t bytes_of(const std::string& name, DType type, const std::vector<Index>& shape) {
  const auto bytes = tensor_bytes(type, shape);
  if (!bytes) internal_error("tensor '{}' cannot have the shape {}", name, shape_text(shape));
  return *bytes;
}

/// Keeps the values alive inside a copyable producer.
template <class T>
std::function<void(const TensorWriter::Sink&)> produce_values(const std::string& name, std::vector<T> values,
                                                              const std::vector<Index>& shape, DType type) {
  if (bytes_of(name, type, shape) != values.size() * sizeof(T))
    internal_error("tensor '{}' has {} values for the shape {}", name, values.size(), shape_text(shape));
  return [kept = std::make_shared<const std::vector<T>>(std::move(values))](const TensorWriter::Sink& sink) {
    sink(std::as_bytes(std::span<const T>(*kept)));
  };
}

/// The values as integers of this type.
template <class T>
std::vector<T> as_integers(const std::string& name, const std::vector<double>& values) {
  std::vector<T> result;
  result.reserve(values.size());
  for (const double value : values) {
    const bool fits = value >= static_cast<double>(std::numeric_limits<T>::min()) &&
                      value <= static_cast<double>(std::numeric_limits<T>::max());
    if (!fits || value != std::trunc(value)) internal_error("tensor '{}' cannot hold {}", name, value);
    result.push_back(static_cast<T>(value));
  }
  return result;
}

}  // namespace

void TensorWriter::set_meta(std::string key, std::string value) { metadata_[std::move(key)] = std::move(value); }

void TensorWriter::add(std::string name, std::vector<double> values, std::vector<Index> shape) {
  auto produce = produce_values(name, std::move(values), shape, DType::f64);
  add_stream(std::move(name), DType::f64, std::move(shape), std::move(produce));
}

void TensorWriter::add(std::string name, std::vector<std::int64_t> values, std::vector<Index> shape) {
  auto produce = produce_values(name, std::move(values), shape, DType::i64);
  add_stream(std::move(name), DType::i64, std::move(shape), std::move(produce));
}

void TensorWriter::add(std::string name, std::vector<double> values, std::vector<Index> shape, DType type) {
  std::function<void(const Sink&)> produce;
  if (type == DType::i32)
    produce = produce_values(name, as_integers<std::int32_t>(name, values), shape, type);
  else if (type == DType::u8)
    produce = produce_values(name, as_integers<std::uint8_t>(name, values), shape, type);
  else
    produce = produce_values(name, std::move(values), shape, DType::f64);
  add_stream(std::move(name), type, std::move(shape), std::move(produce));
}

void TensorWriter::add_stream(std::string name, DType type, std::vector<Index> shape,
                              std::function<void(const Sink&)> produce) {
  if (name == "__metadata__" || entries_.contains(name)) internal_error("tensor '{}' is added twice or reserved", name);
  bytes_of(name, type, shape);
  entries_.emplace(std::move(name), Entry{type, std::move(shape), std::move(produce)});
}

void TensorWriter::emit(const Sink& sink) const {
  // Large elements first, then by name: every array is aligned to its elements although gaps are not allowed.
  std::vector<const std::pair<const std::string, Entry>*> layout;
  for (const auto& entry : entries_) layout.push_back(&entry);
  std::stable_sort(layout.begin(), layout.end(), [](const auto* a, const auto* b) {
    return element_size(a->second.type) > element_size(b->second.type);
  });
  std::map<std::string, std::pair<std::size_t, std::size_t>> offsets;
  std::size_t at = 0;
  for (const auto* entry : layout) {
    const std::size_t end = at + bytes_of(entry->first, entry->second.type, entry->second.shape);
    offsets[entry->first] = {at, end};
    at = end;
  }
  Json header = Json::object();
  if (!metadata_.empty()) header["__metadata__"] = metadata_;
  for (const auto& [name, entry] : entries_)
    header[name] = Json{{"dtype", dtype_name(entry.type)},
                        {"shape", entry.shape},
                        {"data_offsets", Json::array({offsets[name].first, offsets[name].second})}};
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception&) {
    data_error("not_utf8", "a name or text to be saved is not valid UTF-8; convert the data to UTF-8");
  }
  // Spaces after the JSON are part of the format: 8 + header is a multiple of 64.
  text.resize((sizeof(std::uint64_t) + text.size() + 63) / 64 * 64 - sizeof(std::uint64_t), ' ');
  const std::uint64_t size = text.size();
  sink(std::as_bytes(std::span(&size, 1)));
  sink(std::as_bytes(std::span<const char>(text)));
  for (const auto* entry : layout) {
    std::size_t produced = 0;
    entry->second.produce([&](std::span<const std::byte> piece) {
      produced += piece.size();
      sink(piece);
    });
    const auto [begin, end] = offsets[entry->first];
    if (produced != end - begin)
      internal_error("tensor '{}' produced {} bytes, its shape {} needs {}", entry->first, produced,
                     shape_text(entry->second.shape), end - begin);
  }
}

void TensorWriter::write(const std::filesystem::path& path) const {
  AtomicFile file(path);
  emit([&](std::span<const std::byte> piece) { file.write(piece); });
  file.commit();
}

std::string TensorWriter::bytes() const {
  std::string text;
  emit([&](std::span<const std::byte> piece) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return text;
}

}  // namespace ecotone
