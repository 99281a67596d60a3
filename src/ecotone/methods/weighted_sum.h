#pragma once

#include "ecotone/methods/method.h"

namespace ecotone {

/// The prediction of a weighted sum of the features: score = w . x + offset. In regression it is the score. With two
/// classes, -1 and +1 in fitting, a score of 0 goes to the second, and p = 1 / (1 + exp(-2 score)), which has the slope
/// of (1 + score) / 2 at 0: a convention, not calibrated.
Prediction weighted_sum(const Features& x, ConstVectorView weights, double offset, Task task, const Context& context);

}  // namespace ecotone
