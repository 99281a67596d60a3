#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/files/tensor_file.h"

namespace ecotone {

/// The name in safetensors headers: "F64" and so on.
std::string_view dtype_name(DType type);
std::optional<DType> dtype_of(std::string_view name);

/// A shape as text: "[3, 4]".
std::string shape_text(const std::vector<Index>& shape);

/// Bytes of an array of this shape; empty if they exceed the range of Index.
std::optional<std::size_t> tensor_bytes(DType type, const std::vector<Index>& shape);

/// Where one array lies, counted from the start of the data.
struct TensorInfo {
  DType type = DType::u8;
  std::vector<Index> shape;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The checked header of a safetensors file.
struct TensorHeader {
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorInfo> tensors;
  std::size_t data_begin = 0;
};

/// Reads and checks the header of a whole file; any problem is the `file` error `bad_model`, whose message starts with
/// `origin`.
TensorHeader parse_tensor_file(std::span<const std::byte> bytes, const std::string& origin);

}  // namespace ecotone
