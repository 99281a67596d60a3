#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/files/dtype.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/index.h"

namespace ecotone {

/// One array in a tensor file: a view into the bytes of the file. Arrays in files written by ecotone are aligned to
/// their elements; those in other files need not be, so check before casting the pointer.
struct TensorView {
  DType type = DType::u8;
  std::vector<Index> shape;
  std::span<const std::byte> bytes;

  Index elements() const;
};

/// A safetensors file, read whole or mapped. Every length and offset is checked on the way in: the size of the header,
/// its JSON, that arrays lie inside the file without gaps or overlaps, and that shape x element size is the length
/// (without overflow).
class TensorFile {
 public:
  /// Reads the file into memory.
  static TensorFile read(const std::filesystem::path& path);
  /// Maps the file; the mapping lives as long as any copy of this object.
  static TensorFile map(const std::filesystem::path& path);
  /// Parses bytes (kept by copy); `name` is for messages. For tests and fuzzing.
  static TensorFile parse(std::string bytes, const std::string& name);

  const std::map<std::string, std::string>& metadata() const;
  /// The value of a metadata key; if it is absent, a `file` error (`bad_model`) that names the key and the file.
  const std::string& meta(const std::string& key) const;
  bool has(const std::string& tensor) const;
  std::vector<std::string> names() const;
  /// A view; if it is absent, a `file` error (`bad_model`).
  TensorView tensor(const std::string& name) const;
  /// Typed reads that check the type; `shape` entries of -1 match any size.
  std::vector<double> doubles(const std::string& name, const std::vector<Index>& shape = {-1}) const;
  std::vector<std::int64_t> integers(const std::string& name, const std::vector<Index>& shape = {-1}) const;
  /// The same of F64, I32 or U8.
  std::vector<double> numbers(const std::string& name, const std::vector<Index>& shape = {-1}) const;
  /// Path or name, for messages.
  const std::string& origin() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Builds a safetensors file. The header is sorted by name and padded so that the data start on a 64-byte boundary; the
/// data are in order of decreasing element size, then name, so that every array is aligned to its elements. Equal
/// content gives equal bytes.
class TensorWriter {
 public:
  void set_meta(std::string key, std::string value);
  void add(std::string name, std::vector<double> values, std::vector<Index> shape);
  void add(std::string name, std::vector<std::int64_t> values, std::vector<Index> shape);
  /// As F64, I32 or U8, which must hold the numbers.
  void add(std::string name, std::vector<double> values, std::vector<Index> shape, DType type);
  /// An array produced in pieces while the file is written: `produce(sink)` calls sink with consecutive bytes that add
  /// up to the array's size.
  using Sink = std::function<void(std::span<const std::byte>)>;
  void add_stream(std::string name, DType type, std::vector<Index> shape, std::function<void(const Sink&)> produce);

  /// Writes next to `path`, then renames.
  void write(const std::filesystem::path& path) const;
  /// The same bytes as a string.
  std::string bytes() const;

 private:
  struct Entry {
    DType type;
    std::vector<Index> shape;
    std::function<void(const Sink&)> produce;
  };
  std::map<std::string, std::string> metadata_;
  std::map<std::string, Entry> entries_;

  void emit(const Sink& sink) const;
};

}  // namespace ecotone
