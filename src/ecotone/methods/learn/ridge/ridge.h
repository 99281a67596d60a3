#pragma once

#include <memory>
#include <string>
#include <tuple>

#include "ecotone/methods/method.h"
#include "ecotone/methods/select/penalised_data.h"
#include "ecotone/methods/sums/sums_route.h"
#include "ecotone/solve/paths/ridge.h"

namespace ecotone {

/// Options of ridge.
struct RidgeOptions {
  AutoNumber lam;
  PenaltyKind penalty = PenaltyKind::ridge;
  GroupShares domain_weights = GroupShares::equal;
  LeftOutScore score = LeftOutScore::automatic;
  LeftOutRule rule = LeftOutRule::one_se;

  static constexpr auto fields() {
    const auto own = std::tuple{
        field("lam", &RidgeOptions::lam,
              "Penalty lam sum v_i w_i^2 added to the domains' mean squared error, features in units of E[x^2] = 1; as "
              "strong as l2 = lam / 2 of least_squares on scaled features. auto: by the score of left-out training "
              "domains, or of left-out rows if there is one domain; all weights are 0 unless they beat the empty model "
              "by one standard error",
              above(0.0)),
        field("penalty", &RidgeOptions::penalty,
              "ridge: v_i is 1; variance: larger where the covariance with the label varies across domains; auto: by "
              "leave-one-domain-out. variance and auto need five domains",
              one_of("ridge", "variance", "auto")),
        field("domain_weights", &RidgeOptions::domain_weights, "Whether domains count equally or by their rows",
              one_of("equal", "pooled"))};
    return std::tuple_cat(own, judge_fields<RidgeOptions>());
  }
};

/// A weighted sum of all features: ridge regression on the mean loss of the domains.
class Ridge : public Fitted {
 public:
  static StageResult fit(const TrainView& view, const RidgeOptions& options, const Context& context, FitCache&);
  /// The same with the stages before it refitted in the folds that choose the penalty, if that is affordable.
  static StageResult fit_refitting(const TrainView& view, const Refits* refits, const RidgeOptions& options,
                                   const Context& context);
  static SumsResult fit_on_sums(const RowSums& sums, const RidgeOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const RidgeOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  /// How a fit ended, with a warning if no penalty is better than none.
  Status status(const Context& context) const;

  Task task_ = Task::classify;
  RidgePathFit fit_;
  std::string left_out_;  ///< "domains" or "rows"
};

}  // namespace ecotone
