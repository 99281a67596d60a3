#pragma once

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// What a threshold is chosen by; none: it stays 0.5.
enum class ThresholdMeasure { none, accuracy, balanced_accuracy, f1 };

/// The cut t in (0, 1) for which "second class where p >= t" has the largest measure over weighted rows; of equally
/// good ones the nearest to 0.5. Cuts are the middles between neighbouring probabilities, or 0.5 where it lies between
/// them. A class without weight does not count in balanced accuracy. `positive` holds 0 or 1.
double best_threshold(ThresholdMeasure measure, ConstVectorView probability, ConstVectorView positive,
                      ConstVectorView weight);

}  // namespace ecotone
