#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/arrays.h"
#include "ecotone/data/formats/number_array.h"

namespace ecotone {

namespace {

Element idx_element(unsigned code, const std::string& name) {
  switch (code) {
    case 0x08:
      return Element::u8;
    case 0x09:
      return Element::i8;
    case 0x0B:
      return Element::i16;
    case 0x0C:
      return Element::i32;
    case 0x0D:
      return Element::f32;
    case 0x0E:
      return Element::f64;
    default:
      data_error("bad_idx", "{}: unknown IDX type 0x{:02x}", name, code);
  }
}

/// 0 0, a type and a number of dimensions.
bool looks_like_idx(std::string_view start) {
  return start.size() >= 4 && start[0] == 0 && start[1] == 0 && start[2] >= 8 && start[2] <= 14 && start[3] >= 1 &&
         start[3] <= 4;
}

ArrayRows idx_rows(const std::vector<ByteSource>& sources, const ReadOptions&, const Context& context) {
  ArrayRows rows;
  std::vector<NumberArray> arrays;
  for (const ByteSource& source : sources) {
    arrays.push_back(open_idx(source));
    rows.file_rows.push_back(arrays.back().rows);
  }
  Matrix x = stack_arrays(arrays, context);
  auto names = pixel_names(x.cols());
  rows.x = Features::dense(std::move(x), std::move(names));
  return rows;
}

}  // namespace

NumberArray open_idx(const ByteSource& source) {
  const std::string& name = source.name();
  if (source.size() < 8) data_error("bad_idx", "{}: too short for an IDX file", name);
  const std::string magic = source.text(0, 4);
  const auto byte = [](char c) { return static_cast<unsigned>(static_cast<unsigned char>(c)); };
  if (magic[0] != 0 || magic[1] != 0) data_error("bad_idx", "{}: not an IDX file", name);
  const Element element = idx_element(byte(magic[2]), name);
  const std::size_t dimensions = byte(magic[3]);
  const std::size_t offset = 4 + 4 * dimensions;
  if (dimensions == 0 || source.size() < offset)
    data_error("bad_idx", "{}: the file ends inside its {} dimensions", name, dimensions);
  const std::string text = source.text(4, 4 * dimensions);
  std::size_t rows = 0;
  std::size_t cols = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::size_t size = 0;
    for (std::size_t k = 0; k < 4; ++k) size = size << 8 | byte(text[4 * d + k]);
    (d == 0 ? rows : cols) = d == 0 ? size : array_bytes(source, cols, size, 1);
  }
  const std::size_t bytes = array_bytes(source, rows, cols, size_of(element));
  if (bytes != source.size() - offset)
    data_error("bad_idx", "{}: {} x {} values need {} bytes, but the file has {}", name, rows, cols, bytes,
               source.size() - offset);
  if (rows > 0 && cols == 0) data_error("empty_data", "{}: images without pixels", name);
  return {source,
          element,
          true,
          false,
          offset,
          cols * size_of(element),
          static_cast<Index>(rows),
          static_cast<Index>(cols)};
}

Format idx_format() {
  return {.name = "idx",
          .summary = "IDX arrays such as MNIST's: the first dimension counts rows, the others are joined.",
          .endings = {".idx", "-ubyte"},
          .looks_like = looks_like_idx,
          .rows = idx_rows};
}

}  // namespace ecotone
