#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ecotone/base/index.h"

namespace ecotone::cli {

/// A picture as it is sent.
struct Picture {
  std::string type;  ///< image/png, ..
  std::string bytes;
};

/// The pictures that a column names, row by row. Nothing else can be had: the column's text is a path below the folder
/// of its data file, links that lead out of the folder are not followed, and the content must be that of a picture.
class LabelImages {
 public:
  /// `names` has the column's text for each row of the files; `first_rows` and `folders` belong to the files.
  LabelImages(std::vector<std::string> names, std::vector<Index> first_rows,
              const std::vector<std::filesystem::path>& folders);

  const std::vector<std::string>& names() const { return names_; }
  /// The picture of a row of the files. Data error `no_image`, which does not tell what is there instead.
  Picture of(Index row) const;

 private:
  std::vector<std::string> names_;
  std::vector<Index> first_rows_;
  std::vector<std::filesystem::path> folders_;  ///< canonical
};

/// The type of a picture by its first bytes: image/png, image/jpeg, image/gif, image/webp; empty for anything else.
std::string picture_type(std::string_view bytes);

}  // namespace ecotone::cli
