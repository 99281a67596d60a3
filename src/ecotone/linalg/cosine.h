#pragma once

#include "ecotone/base/index.h"

namespace ecotone {

/// v_i <- scale cos(2 pi v_i), to about 1e-15 of scale for |v_i| < 2^51 (what is rounded off v_i itself counts extra);
/// NaN stays. Uses the widest vectors that this processor has; results do not depend on how values are cut into calls.
void cos_of_turns(double scale, double* values, Index count);

}  // namespace ecotone
