#pragma once

#include <tuple>
#include <vector>

#include "ecotone/methods/learn/calibrate/score_maps.h"
#include "ecotone/methods/learn/calibrate/threshold.h"
#include "ecotone/methods/method.h"

namespace ecotone {

enum class CalibrateMethod { platt, isotonic };

struct CalibrateOptions {
  CalibrateMethod method = CalibrateMethod::platt;
  ThresholdMeasure threshold = ThresholdMeasure::none;

  static constexpr auto fields() {
    return std::tuple{
        field("method", &CalibrateOptions::method,
              "platt: a sigmoid of the decision value; isotonic: any non-decreasing function of it",
              one_of("platt", "isotonic")),
        field("threshold", &CalibrateOptions::threshold,
              "Measure that the probability threshold of the second class maximises on held-out rows; none: it is 0.5",
              one_of("none", "accuracy", "balanced_accuracy", "f1"))};
  }
};

/// One map for two classes, of the decision value; else one per class, of its decision value against the rest
/// (versus_rest). Those of the other method are empty.
struct CalibrateMaps {
  std::vector<PlattMap> platt;
  std::vector<IsotonicMap> isotonic;
};

/// What it was learned from, and what it changed there.
struct CalibrateReport {
  Index rows = 0;   ///< labelled rows that had out-of-fold decision values
  Index folds = 0;  ///< refits
  bool by_domain = false;
  double log_loss_before = 0;  ///< of the learner's out-of-fold probabilities
  double log_loss_after = 0;   ///< of the calibrated ones
};

/// Probabilities from a learner's decision values, learned from out-of-fold decision values.
class Calibrate : public Fitted {
 public:
  /// `threshold` is used for two classes only.
  Calibrate(CalibrateMaps maps, double threshold, const CalibrateReport& report);

  static StageResult fit(const Upstream& upstream, const CalibrateOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const CalibrateOptions& options,
                                            const StageInput& input);

  Prediction revised(Prediction before, const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  CalibrateMaps maps_;
  double threshold_;
  CalibrateReport report_;
};

}  // namespace ecotone
