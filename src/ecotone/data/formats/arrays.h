#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/data/formats/format.h"

namespace ecotone {

/// The features of a format without column names and what came with them.
struct ArrayRows {
  Features x;
  std::optional<Vector> label;      ///< NaN: missing
  std::vector<Index> file_rows;     ///< rows of each file
  bool labels_are_classes = false;  ///< decided by the format; otherwise guessed
};

/// Reads files of such a format; labels come from `options.labels_file` if given.
ArrayRows read_arrays(const Format& format, const std::vector<ByteSource>& sources, const ReadOptions& options,
                      const Context& context);

/// Names of `count` pixels: p0, p1, ...
std::vector<std::string> pixel_names(Index count);

/// Makes a data set of them: columns may be named as label, domain or weight, left out and filtered by their generated
/// names (x1, x2, ..., pixels p0, p1, ...).
Dataset arrays_dataset(ArrayRows rows, const std::vector<ByteSource>& sources, const ReadOptions& options,
                       const Context& context);

/// The features of the data set in the order of the model: by position if the counts agree (sparse: if there are not
/// more), otherwise by name. Data error `column_count`.
Dataset match_by_position(Dataset data, const Schema& schema, const std::string& origin, const Context& context);

}  // namespace ecotone
