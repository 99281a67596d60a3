#pragma once

#include "ecotone/methods/method.h"

namespace ecotone {

/// What a weighted sum of the features predicts: score = w . x + offset. Numbers are the score. Of two classes, -1 and
/// +1 in fitting, a score of 0 goes to the second, and p = 1 / (1 + exp(-2 score)), which has the slope of (1 + score)
/// / 2 at 0: a convention, not calibrated.
Prediction weighted_sum(const Features& x, ConstVectorView weights, double offset, Task task, const Context& context);

}  // namespace ecotone
