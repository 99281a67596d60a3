#include "ecotone/data/formats/number_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/formats/encode.h"

namespace ecotone {

namespace {

template <class T>
double decode(const char* bytes, bool big_endian) {
  char ordered[sizeof(T)];
  std::memcpy(ordered, bytes, sizeof(T));
  if ((std::endian::native == std::endian::little) == big_endian) std::reverse(ordered, ordered + sizeof(T));
  T value;
  std::memcpy(&value, ordered, sizeof(T));
  return static_cast<double>(value);
}

template <class T>
void decode_run(const char* bytes, bool big_endian, Index count, double* out, Index stride) {
  for (Index i = 0; i < count; ++i)
    out[i * stride] = decode<T>(bytes + static_cast<std::size_t>(i) * sizeof(T), big_endian);
}

/// Decodes `count` contiguous elements to places `stride` apart.
void decode_run(Element element, const char* bytes, bool big_endian, Index count, double* out, Index stride) {
  switch (element) {
    case Element::u8:
      return decode_run<std::uint8_t>(bytes, big_endian, count, out, stride);
    case Element::i8:
      return decode_run<std::int8_t>(bytes, big_endian, count, out, stride);
    case Element::u16:
      return decode_run<std::uint16_t>(bytes, big_endian, count, out, stride);
    case Element::i16:
      return decode_run<std::int16_t>(bytes, big_endian, count, out, stride);
    case Element::u32:
      return decode_run<std::uint32_t>(bytes, big_endian, count, out, stride);
    case Element::i32:
      return decode_run<std::int32_t>(bytes, big_endian, count, out, stride);
    case Element::u64:
      return decode_run<std::uint64_t>(bytes, big_endian, count, out, stride);
    case Element::i64:
      return decode_run<std::int64_t>(bytes, big_endian, count, out, stride);
    case Element::f32:
      return decode_run<float>(bytes, big_endian, count, out, stride);
    case Element::f64:
      return decode_run<double>(bytes, big_endian, count, out, stride);
    case Element::boolean:
      for (Index i = 0; i < count; ++i) out[i * stride] = bytes[i] != 0 ? 1.0 : 0.0;
      return;
  }
}

}  // namespace

std::size_t size_of(Element element) {
  switch (element) {
    case Element::u8:
    case Element::i8:
    case Element::boolean:
      return 1;
    case Element::u16:
    case Element::i16:
      return 2;
    case Element::u32:
    case Element::i32:
    case Element::f32:
      return 4;
    case Element::u64:
    case Element::i64:
    case Element::f64:
      return 8;
  }
  return 1;
}

std::size_t array_bytes(const ByteSource& source, std::size_t rows, std::size_t cols, std::size_t size) {
  // Half of the address space: later products with 8 are safe, and no file is that long.
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 32;
  if ((rows != 0 && cols > most / rows) || rows * cols > most / size)
    data_error("too_large", "{}: an array of {} x {} values is too large", source.name(), rows, cols);
  return rows * cols * size;
}

void NumberArray::read(MatrixView out, const Context& context) const {
  const std::size_t size = size_of(element);
  const Index step = std::max<Index>(1, (Index{1} << 18) / std::max<Index>(cols, 1));
  BufferPool pool;
  context.parallel((rows + step - 1) / step, [&](Index b) {
    const Index first = b * step;
    const Index count = std::min(step, rows - first);
    const auto loan = pool.borrow();
    if (column_major) {
      const auto buffer = room_in(*loan, static_cast<std::size_t>(count) * size);
      for (Index j = 0; j < cols; ++j) {
        source.read(offset + static_cast<std::size_t>(j * rows + first) * size, buffer);
        decode_run(element, buffer.data(), big_endian, count, &out(first, j), out.outerStride());
      }
      return;
    }
    // The last row of a file ends with its elements, not with the row stride.
    const std::size_t bytes = static_cast<std::size_t>(count - 1) * row_bytes + static_cast<std::size_t>(cols) * size;
    const auto buffer = room_in(*loan, bytes);
    source.read(offset + static_cast<std::size_t>(first) * row_bytes, buffer);
    for (Index i = 0; i < count; ++i)
      decode_run(element, buffer.data() + static_cast<std::size_t>(i) * row_bytes, big_endian, cols, &out(first + i, 0),
                 1);
  });
}

Matrix stack_arrays(const std::vector<NumberArray>& arrays, const Context& context) {
  Index rows = 0;
  const Index cols = arrays.front().cols;
  for (const NumberArray& array : arrays) {
    if (array.cols != cols)
      data_error("column_count", "{}: {} columns, but {} has {}", array.source.name(), array.cols,
                 arrays.front().source.name(), cols);
    rows += array.rows;
  }
  require_rows(rows, arrays.front().source.name());
  require_memory(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(double),
                 arrays.front().source.name(), fmt::format("{} rows x {} features", rows, cols), "use fewer rows");
  Matrix out(rows, cols);
  Index row = 0;
  for (const NumberArray& array : arrays) {
    array.read(out.middleRows(row, array.rows), context);
    array.source.check_unchanged();
    row += array.rows;
  }
  return out;
}

}  // namespace ecotone
