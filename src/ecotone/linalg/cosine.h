#pragma once

#include "ecotone/base/index.h"

namespace ecotone {

/// v_i <- scale cos(2 pi v_i), accurate to about 1e-15 of scale for |v_i| < 2^51 (not counting the rounding of v_i
/// itself); NaN stays NaN. Uses the widest vectors of the processor; results do not depend on how the values are split
/// into calls.
void cos_of_turns(double scale, double* values, Index count);

}  // namespace ecotone
