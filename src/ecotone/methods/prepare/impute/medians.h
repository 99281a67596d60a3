#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// The median of each column over its values that are not NaN (the mean of the two middle ones when their number is
/// even); 0 where there is no value. In sparse features the entries that are not stored are values: zeros.
Vector column_medians(const Features& x, const Context& context);

}  // namespace ecotone
