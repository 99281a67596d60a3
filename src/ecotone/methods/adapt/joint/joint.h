#pragma once

#include <optional>
#include <tuple>

#include "ecotone/methods/learn/linear/linear.h"
#include "ecotone/methods/method.h"
#include "ecotone/solve/ratios/joint.h"

namespace ecotone {

struct JointOptions {
  double l2 = 1e-3;
  double lam = 10;
  double domain_l2 = 1e-3;
  bool offset = true;

  static constexpr auto fields() {
    return std::tuple{
        field("l2", &JointOptions::l2, "Penalty l2 ||w||^2 on the weights of the label classifier, as l2 of logistic",
              at_least(0.0)),
        field("lam", &JointOptions::lam,
              "Weight of the domain classifier's objective relative to the label classifier's; not a penalty",
              above(0.0)),
        field("domain_l2", &JointOptions::domain_l2,
              "Penalty domain_l2 ||v||^2 on the weights of the domain classifier", at_least(0.0)),
        field("offset", &JointOptions::offset, "Whether the label classifier has an offset")};
  }
};

/// A logistic classifier whose importance weights were learned with it.
class JointModel : public Fitted {
 public:
  /// What `inspect` shows beside the weights.
  struct Notes {
    Index rows = 0;  ///< source rows
    double ess = 0;  ///< effective sample size of the importance weights, times the given row weights
    /// Of a classifier of source against target, cross-validated; empty when one of them has a single row.
    std::optional<double> auroc;
  };

  JointModel(JointFit fit, Notes notes);

  static StageResult fit(const TrainView& view, const JointOptions& options, const Context& context, FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const JointOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  JointFit fit_;
  Notes notes_;
  Linear linear_;
};

}  // namespace ecotone
