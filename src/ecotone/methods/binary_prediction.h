#pragma once

#include <vector>

#include "ecotone/methods/method.h"

namespace ecotone {

/// -1 for the first of two classes and +1 for the second.
std::vector<double> binary_targets(const Labels& y);

/// Two classes from the score of the second, which is predicted where the score is at least 0; p = 1 / (1 +
/// exp(-odds)).
Prediction binary_prediction(Vector score, const Vector& log_odds);
/// For scores fitted to the labels -1 and +1: log odds of 2 score, so that p has the slope of (1 + score) / 2 at 0.
/// That is a convention, not a calibrated probability.
Prediction binary_prediction(Vector score);

}  // namespace ecotone
