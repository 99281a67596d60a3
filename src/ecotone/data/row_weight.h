#pragma once

#include <string>

#include "ecotone/base/index.h"

namespace ecotone {

/// Data errors `bad_weight` and `negative_weight`: a row weight is 0 or from 1e-150 to 1e150, so that sums and squares
/// of weights stay in the range of numbers. `column` may be empty, `row` counts from 0.
void require_weight(double weight, const std::string& column, Index row);

}  // namespace ecotone
