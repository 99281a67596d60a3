#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/arrays.h"
#include "ecotone/data/formats/number_array.h"

namespace ecotone {

namespace {

ArrayRows cifar_rows(const std::vector<ByteSource>& sources, const ReadOptions&, const Context& context) {
  std::vector<NumberArray> labels;
  std::vector<NumberArray> pixels;
  ArrayRows rows;
  rows.labels_are_classes = true;
  for (const ByteSource& source : sources) {
    CifarArrays arrays = open_cifar(source);
    rows.file_rows.push_back(arrays.pixels.rows);
    labels.push_back(std::move(arrays.labels));
    pixels.push_back(std::move(arrays.pixels));
  }
  rows.label = stack_arrays(labels, context).col(0);
  for (Index i = 0; i < rows.label->size(); ++i)
    if ((*rows.label)[i] > 9)
      data_error("bad_cifar", "{}: record {} has label {}, but labels end at 9", sources.front().name(), i + 1,
                 (*rows.label)[i]);
  Matrix x = stack_arrays(pixels, context);
  auto names = pixel_names(x.cols());
  rows.x = Features::dense(std::move(x), std::move(names));
  return rows;
}

}  // namespace

CifarArrays open_cifar(const ByteSource& source) {
  constexpr std::size_t pixels = 3072;
  constexpr std::size_t record = pixels + 1;
  if (source.size() % record != 0)
    data_error("bad_cifar", "{}: {} bytes are not a multiple of a CIFAR record's {}", source.name(), source.size(),
               record);
  const auto rows = static_cast<Index>(source.size() / record);
  return {{source, Element::u8, false, false, 0, record, rows, 1},
          {source, Element::u8, false, false, 1, record, rows, static_cast<Index>(pixels)}};
}

Format cifar_format() {
  return {.name = "cifar",
          .summary = "CIFAR-10 binary records: a class byte and 3,072 pixels each.",
          .endings = {".bin"},
          .rows = cifar_rows};
}

}  // namespace ecotone
