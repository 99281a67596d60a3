#pragma once

#include <tuple>

#include "ecotone/methods/learn/adaboost/boosted.h"
#include "ecotone/methods/method.h"

namespace ecotone {

/// Which rounds vote: all, or those up to the last minimum of eq. 13 or eq. 14.
enum class DaBoostStop { last, eq13, eq14 };
/// Whether the target's scores are smoothed over its neighbours.
enum class DaBoostSmooth { none, knn };

/// Options of daboost.
struct DaBoostOptions {
  double gamma = 0.2;
  int rounds = 1500;
  int candidates = 1;
  BoostSelect select = BoostSelect::max_wtplus;
  WordOrNumber scale{};  // side; words in the order of StumpScaleKind
  double b_t = 1;
  AutoNumber floor{};
  DaBoostStop stop = DaBoostStop::last;
  int vote = 5;
  BoostBase base = BoostBase::stump;
  int depth = 2;
  DaBoostSmooth smooth = DaBoostSmooth::none;
  BoostSide classifier = BoostSide::target;
  ExactRowsOption exact = ExactRowsOption::automatic;
  BoostBins bins = BoostBins::uniform;
  bool criteria = false;
  GroupShares domain_weights = GroupShares::pooled;

  static constexpr auto fields() {
    using O = DaBoostOptions;
    const Limits inside{.low = 0, .high = 1, .open_low = true, .open_high = true};
    return std::tuple{
        field("gamma", &O::gamma, "Margin: target rows with |h| <= gamma count against a stump", inside),
        field("rounds", &O::rounds, "Stumps per run", between(1, 1'000'000)),
        field("candidates", &O::candidates, "Thresholds drawn per round, on one random column",
              between(1, boost_most_candidates)),
        field("select", &O::select,
              "Which candidate is taken: the one with the most target weight outside the margin, the smallest bound of "
              "the round, or the smallest source error",
              one_of("max_wtplus", "min_bound", "min_source")),
        field("scale", &O::scale,
              "What a stump divides the distance from its threshold by: the distance to the end of the range on that "
              "side, the larger of the two, the range, half of it, nothing (raw), or the given number",
              or_words(above(0.0), "side", "maxabs", "range", "half", "raw")),
        field("b_t", &O::b_t, "Largest share of the target weight that may lie outside the margin; 1: no limit",
              Limits{.low = 0.5, .high = 1, .open_low = true}),
        field("floor", &O::floor,
              "Smallest error counted for a stump in either domain; auto: 1 / (2 rows of the domain)",
              Limits{.low = 1e-12, .high = 0.5, .open_high = true}),
        field("stop", &O::stop, "Rounds that vote: all, or up to the last minimum of criterion (13) or (14)",
              one_of("last", "eq13", "eq14")),
        field("vote", &O::vote, "Independent runs whose normalised votes are averaged; 1: a single run",
              between(1, 10'000)),
        field(
            "base", &O::base,
            "What votes: stumps, each on one column, or small random trees whose leaves hold the margin of the source",
            one_of("stump", "tree")),
        field("depth", &O::depth, "Depth of the trees", between(1, boost_most_depth)),
        field("smooth", &O::smooth,
              "knn: smooth the scores of target rows over their 5 nearest neighbours; a new row takes the score of the "
              "nearest target row. Assumes that each class consists of clusters; the model then holds the target rows",
              one_of("none", "knn")),
        field("classifier", &O::classifier, "Which vote predicts: that of the source, H^S, or of the target, H^T",
              one_of("source", "target")),
        field("exact", &O::exact,
              "true: rows are held as numbers; false: in 256 bins, one byte per value; auto: bins from 100,000 rows on",
              one_of("auto", "true", "false")),
        field("bins", &O::bins, "Edges of the bins: equally spaced, or with equal numbers of rows between them",
              one_of("uniform", "quantile")),
        field("criteria", &O::criteria,
              "Whether to record the divergences and criteria (13) and (14), too; every round then sorts all rows"),
        field("domain_weights", &O::domain_weights, "Whether source domains count equally or by their rows",
              one_of("equal", "pooled"))};
  }
  BoostedRuns::Shape shape() const {
    return {true, criteria || stop != DaBoostStop::last, base == BoostBase::tree ? depth : 0, gamma};
  }
};

/// Target rows up to which the model keeps the score of each; their shares by class are always kept.
constexpr Index daboost_kept_targets = 10'000;

/// Boosting that adapts: a vote of stumps that are right on the source and keep a margin from target rows.
class DaBoost : public Fitted {
 public:
  static StageResult fit(const TrainView& view, const DaBoostOptions& options, const Context& context, FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const DaBoostOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  Index training_rows() const override { return target_x_.rows(); }
  StageState save() const override;

 private:
  BoostedRuns runs_;
  BoostSide side_ = BoostSide::target;
  Index target_rows_ = 0;
  double target_share_ = 0;  ///< of target rows that go to the second class
  Vector target_score_;      ///< pseudo-labels by their sign; empty: too many
  Matrix target_x_;          ///< smooth=knn only
};

}  // namespace ecotone
