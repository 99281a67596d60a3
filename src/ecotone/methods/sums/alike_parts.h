#pragma once

#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/methods/sums/parts.h"

namespace ecotone {

/// Warning `alike_parts` for two parts without a source whose domains and classes have as many rows and whose columns
/// have equal sums and sums of squares up to rounding: they may be of the same rows, summed in another order or by
/// another computer, which would count twice.
void warn_of_alike_parts(const std::vector<SumsPart>& parts, const Context& context);

}  // namespace ecotone
