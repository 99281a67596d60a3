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
  bool labels_are_classes = false;  ///< by the format; else guessed
};

/// The rows of files of such a format; labels from `options.labels_file` where given.
ArrayRows read_arrays(const Format& format, const std::vector<ByteSource>& sources, const ReadOptions& options,
                      const Context& context);

/// Names of `count` pixels: p0, p1, ...
std::vector<std::string> pixel_names(Index count);

/// Makes a data set of them: columns may be named as label, domain or weight, left out and filtered by their made-up
/// names (x1, x2, ..., pixels p0, p1, ...).
Dataset arrays_dataset(ArrayRows rows, const std::vector<ByteSource>& sources, const ReadOptions& options,
                       const Context& context);

/// The data set's features as a model wants them: by position when there are as many (sparse: not more), else by name.
/// Data error `column_count`.
Dataset match_by_position(Dataset data, const Schema& schema, const std::string& origin, const Context& context);

}  // namespace ecotone
