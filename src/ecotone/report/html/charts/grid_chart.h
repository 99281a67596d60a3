#pragma once

#include <optional>
#include <string>
#include <vector>

/// A table as a picture: cells shaded by their values.
namespace ecotone::report {

struct GridChart {
  std::string description;  ///< for those who do not see the picture
  std::vector<std::string> rows, columns;
  std::vector<std::vector<std::optional<double>>> values;  ///< by row; empty cells stay blank
  std::vector<std::vector<std::string>> texts;             ///< in the cells, by row
  double full = 1;                                         ///< the value of the strongest shade, of either sign
  std::string row_word;                                    ///< what rows and columns are, for tips
  std::string value_word;
};
std::string grid_chart(const GridChart& chart);

}  // namespace ecotone::report
