#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// Warning `lost_digits` for a column whose mean is many times its spread: its sums of squares and products keep few
/// digits of how it varies.
void warn_of_lost_digits(const TrainView& view, const Context& context);

}  // namespace ecotone
