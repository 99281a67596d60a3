#pragma once

#include "ecotone/methods/method.h"

namespace ecotone {

/// The prediction of a weighted sum of the features: score = w . x + offset. In regression it is the score; two
/// classes, -1 and +1 in fitting, are predicted by binary_prediction.
Prediction weighted_sum(const Features& x, ConstVectorView weights, double offset, Task task, const Context& context);

}  // namespace ecotone
