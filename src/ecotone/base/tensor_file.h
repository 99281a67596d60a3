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

#include "ecotone/base/file.h"
#include "ecotone/base/index.h"

namespace ecotone {

/// Element types that we write; names as in safetensors: "F64", "F32", "I64", "I32", "U8".
enum class DType { f64, f32, i64, i32, u8 };
std::size_t element_size(DType type);

/// One array inside a tensor file: a view into the file's bytes. Files of our own are aligned to the elements; files of
/// others need not be: look before casting the pointer.
struct TensorView {
  DType type = DType::u8;
  std::vector<Index> shape;
  std::span<const std::byte> bytes;

  Index elements() const;
};

/// A safetensors file, read whole or mapped. Every length and offset was checked on the way in: the header's size, its
/// JSON, that arrays lie inside the file without gaps or overlaps, that shape x element size is the length (no
/// overflow).
class TensorFile {
 public:
  /// Reads the file into memory.
  static TensorFile read(const std::filesystem::path& path);
  /// Maps the file; the mapping lives as long as any copy of this object.
  static TensorFile map(const std::filesystem::path& path);
  /// Parses bytes (kept by copy); `name` is for messages. For tests and fuzzing.
  static TensorFile parse(std::string bytes, const std::string& name);

  const std::map<std::string, std::string>& metadata() const;
  /// The value of a metadata key; a `file` error (`bad_model`) that names the key and the file when absent.
  const std::string& meta(const std::string& key) const;
  bool has(const std::string& tensor) const;
  std::vector<std::string> names() const;
  /// A view; a `file` error (`bad_model`) when absent.
  TensorView tensor(const std::string& name) const;
  /// Typed reads with the expected type checked; `shape` entries of -1 match anything.
  std::vector<double> doubles(const std::string& name, const std::vector<Index>& shape = {-1}) const;
  std::vector<std::int64_t> integers(const std::string& name, const std::vector<Index>& shape = {-1}) const;
  /// Path or name, for messages.
  const std::string& origin() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Builds a safetensors file: header sorted by name and padded so that data begin on a 64-byte boundary; data in order
/// of decreasing element size, then name, so that every array is aligned to its elements; equal content gives equal
/// bytes.
class TensorWriter {
 public:
  void set_meta(std::string key, std::string value);
  void add(std::string name, std::vector<double> values, std::vector<Index> shape);
  void add(std::string name, std::vector<std::int64_t> values, std::vector<Index> shape);
  /// An array produced in pieces while the file is written: `produce(sink)` calls sink with consecutive bytes that add
  /// up to its size.
  using Sink = std::function<void(std::span<const std::byte>)>;
  void add_stream(std::string name, DType type, std::vector<Index> shape, std::function<void(const Sink&)> produce);

  /// Writes beside `path` and renames.
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
