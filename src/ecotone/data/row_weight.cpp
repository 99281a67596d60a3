#include "ecotone/data/row_weight.h"

#include <cmath>

#include "ecotone/base/error.h"

namespace ecotone {

void require_weight(double weight, const std::string& column, Index row) {
  constexpr double least = 1e-150, largest = 1e150;
  if (weight == 0 || (weight >= least && weight <= largest)) return;
  const std::string what = column.empty() ? "row weights" : fmt::format("column '{}': weights", column);
  if (!std::isfinite(weight)) data_error("bad_weight", "{} must be finite, got {} in row {}", what, weight, row + 1);
  if (weight < 0) data_error("negative_weight", "{} must be >= 0, got {} in row {}", what, weight, row + 1);
  data_error("bad_weight", "{} must be 0 or from {:g} to {:g}, got {} in row {}; divide all of them by one number",
             what, least, largest, weight, row + 1);
}

}  // namespace ecotone
