#include <cstdint>
#include <string>

#include "ecotone/base/error.h"
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
    data_error("bad_idx", "{}: {} x {} values need {} bytes, the file has {}", name, rows, cols, bytes,
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

CifarArrays open_cifar(const ByteSource& source) {
  constexpr std::size_t pixels = 3072;
  constexpr std::size_t record = pixels + 1;
  if (source.size() % record != 0)
    data_error("bad_cifar", "{}: {} bytes are no multiple of a CIFAR record's {}", source.name(), source.size(),
               record);
  const auto rows = static_cast<Index>(source.size() / record);
  return {{source, Element::u8, false, false, 0, record, rows, 1},
          {source, Element::u8, false, false, 1, record, rows, static_cast<Index>(pixels)}};
}

}  // namespace ecotone
