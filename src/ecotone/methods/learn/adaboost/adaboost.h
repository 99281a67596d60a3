#pragma once

#include <tuple>

#include "ecotone/methods/learn/adaboost/boosted.h"
#include "ecotone/methods/method.h"

namespace ecotone {

/// Options of adaboost.
struct AdaBoostOptions {
  int rounds = 200;
  BoostBase base = BoostBase::stump;
  int depth = 2;
  ExactRowsOption exact = ExactRowsOption::automatic;
  BoostBins bins = BoostBins::quantile;
  GroupShares domain_weights = GroupShares::pooled;

  static constexpr auto fields() {
    using O = AdaBoostOptions;
    return std::tuple{
        field("rounds", &O::rounds,
              "Largest number of stumps; it stops early at one without errors, or when none is better than chance",
              between(1, 1'000'000)),
        field("base", &O::base, "What votes: stumps, each on one column, or small trees", one_of("stump", "tree")),
        field("depth", &O::depth, "Depth of the trees", between(1, boost_most_depth)),
        field("exact", &O::exact,
              "true: thresholds between all values; false: at the edges of 256 bins, one byte per value; auto: bins "
              "from 100,000 rows on",
              one_of("auto", "true", "false")),
        field("bins", &O::bins, "Edges of the bins: equally spaced, or with equal numbers of rows between them",
              one_of("uniform", "quantile")),
        field("domain_weights", &O::domain_weights, "Whether domains count equally or by their rows",
              one_of("equal", "pooled"))};
  }
};

/// AdaBoost for two classes: every round takes the best of all stumps for the current row weights.
class AdaBoost : public Fitted {
 public:
  explicit AdaBoost(BoostedRuns runs);

  static StageResult fit(const TrainView& view, const AdaBoostOptions& options, const Context& context,
                         FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const AdaBoostOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  BoostedRuns runs_;
};

}  // namespace ecotone
