#pragma once

#include <cstddef>

namespace ecotone {

/// The supported element types of tensors; named as in safetensors: "F64", "F32", "I64", "I32", "U8".
enum class DType { f64, f32, i64, i32, u8 };
std::size_t element_size(DType type);

}  // namespace ecotone
