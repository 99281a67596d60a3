#include "ecotone/methods/learn/calibrate/threshold.h"

#include "ecotone/base/error.h"
#include "ecotone/measure/confusion.h"

namespace ecotone {

namespace {

double measured(ThresholdMeasure measure, const Confusion& c) {
  switch (measure) {
    case ThresholdMeasure::none:
      return 0;
    case ThresholdMeasure::accuracy:
      return (c.true_positive + c.true_negative) / (c.positive() + c.negative());
    case ThresholdMeasure::balanced_accuracy: {
      const auto positive = sensitivity(c);
      const auto negative = specificity(c);
      if (!positive) return *negative;
      return negative ? (*positive + *negative) / 2 : *positive;
    }
    case ThresholdMeasure::f1:
      return f1(c).value_or(0);
  }
  internal_error("threshold measure {} is unknown", static_cast<int>(measure));
}

}  // namespace

double best_threshold(ThresholdMeasure measure, ConstVectorView probability, ConstVectorView positive,
                      ConstVectorView weight) {
  if (measure == ThresholdMeasure::none) return 0.5;
  const auto value = [&](const Confusion& c) { return std::optional(measured(measure, c)); };
  return best_cut(probability, positive, weight, value).value_or(0.5);
}

}  // namespace ecotone
