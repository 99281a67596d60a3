#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/formats/byte_source.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

enum class Element { u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, boolean };
std::size_t size_of(Element element);

/// A matrix of numbers in a binary file: NPY, IDX or the parts of CIFAR records.
struct NumberArray {
  ByteSource source;
  Element element = Element::u8;
  bool big_endian = false;
  bool column_major = false;
  std::size_t offset = 0;     ///< position of the first element
  std::size_t row_bytes = 0;  ///< row stride (row-major)
  Index rows = 0;
  Index cols = 0;

  /// Reads everything into `out` (rows x cols), on all threads.
  void read(MatrixView out, const Context& context) const;
};

/// rows x cols x size bytes; data error `too_large` if that is more than a file can hold.
std::size_t array_bytes(const ByteSource& source, std::size_t rows, std::size_t cols, std::size_t size);

/// Arrays of several files, one below the other; memory checked. Data errors `column_count`, `empty_data`.
Matrix stack_arrays(const std::vector<NumberArray>& arrays, const Context& context);

/// Whether a file that begins so is an NPY file.
bool is_npy(std::string_view start);

/// NumPy's format, versions 1 to 3: 1-D or 2-D arrays of f8 f4 i8 i4 i2 i1 u8 u4 u2 u1 b1, little-endian, in C or
/// Fortran order. Data error `bad_npy`.
NumberArray open_npy(const ByteSource& source);

/// IDX: the first dimension counts rows, the others are flattened into columns. Data error `bad_idx`.
NumberArray open_idx(const ByteSource& source);

/// CIFAR-10 binary records: one label byte and 3,072 pixels each. Data error `bad_cifar`.
struct CifarArrays {
  NumberArray labels;
  NumberArray pixels;
};
CifarArrays open_cifar(const ByteSource& source);

}  // namespace ecotone
