#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/options.h"
#include "ecotone/data/dataset.h"
#include "ecotone/label/estimate.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/methods/query/strategy.h"

namespace ecotone {

struct SimulateOptions {
  Index budget = 100;
  Index repeat = 20;
  Index audit = 5;
  double test_share = 0.5;
  double reach = 0.95;

  static constexpr auto fields() {
    return std::tuple{
        field("budget", &SimulateOptions::budget, "Labels that may be asked, audits included", between(1, 1e6)),
        field("repeat", &SimulateOptions::repeat, "Runs, each with other held-out rows and draws", between(1, 1e5)),
        field("audit", &SimulateOptions::audit,
              "Every N-th question is a random row that measures the model and does not train it; 0: none",
              between(0, 1e6)),
        field("test_share", &SimulateOptions::test_share,
              "Share of the rows that may be asked which is held out to measure the curves", between(0.05, 0.95)),
        field("reach", &SimulateOptions::reach,
              "Share of the accuracy with all labels whose cost in labels is told (numbers: RMSE within 1 / share)",
              between(0.01, 1.0))};
  }
};

/// One point of a learning curve, over the runs.
struct CurvePoint {
  Index labels = 0;
  double mean = 0;
  std::optional<double> sd;  ///< empty with one run
  double low = 0;            ///< 5th and 95th percentile of the runs
  double high = 0;
  Index audits = 0;                ///< audit rows asked so far
  std::optional<double> coverage;  ///< share of runs whose audit interval holds the value on the held-out rows
  std::optional<double> width;     ///< mean width of that interval
};

/// The runs of one strategy.
struct StrategyCurve {
  std::string strategy;
  std::vector<CurvePoint> points;  ///< after the seed, then after every batch; only where all runs have a model
  /// Of every run: the first number of labels from which the value is at the goal for 5 successive fits (for all fits
  /// if there are fewer); empty: not within the budget.
  std::vector<std::optional<Index>> reached;
  /// Percentiles of these. Runs that did not reach it count as more than the budget; empty: the percentile does too.
  std::optional<double> median_reached;
  std::optional<double> low_reached;   ///< 5th
  std::optional<double> high_reached;  ///< 95th
};

/// What labels are worth, by strategy: the last one is `random`.
struct LabelSimulation {
  std::string pipeline;
  std::string metric;  ///< accuracy or rmse
  SimulateOptions options;
  std::uint64_t seed = 0;
  Task task = Task::classify;
  std::vector<std::string> targets;  ///< empty: rows of all domains are asked
  Index known = 0;                   ///< labelled rows at the start
  Index pool = 0;                    ///< rows that may be asked; with groups those of the first run
  Index held_out = 0;                ///< rows that the curves are measured on; likewise
  double full = 0;                   ///< mean over runs with all labels of the pool
  double start = 0;                  ///< mean over runs before the first question (after the seed)
  std::vector<StrategyCurve> curves;
};

/// Hides the labels of the rows that may be asked, asks by each strategy and by `random`, refits from a warm start and
/// measures on rows held out.
///
/// A run draws its held-out rows and its audit rows at random, whole groups where the data have groups; audit rows are
/// asked for no other reason and never learned from. If the known labels do not allow a fit, `seed_size` rows come
/// first (drawn again until every class of the pool is among them, at most 1,000 times), none of them an audit. Then
/// every `audit`-th question is an audit row and the others are picked by the strategy, `batch` questions between two
/// fits. All strategies of a run have the same held-out rows and audit rows, those with one `seed_size` the same seed;
/// the curve of a strategy does not depend on the others. Pipelines that adapt see the rows of the pool that are not
/// learned from, or the held-out rows if none is left, without labels.
///
/// Without strategies: the default of the task. `random` has the `batch` and `seed_size` of the first strategy unless
/// it is given; it comes last in any case. Values do not use row weights. The goal of a run is `reach` times its own
/// value with all labels of the pool (for RMSE that value over `reach`).
///
/// Option errors: `no_learner`, `bad_option`, `repeated_strategy`. Data errors: `no_labels`, `empty_data` (fewer than
/// four rows that may be asked have a label), `one_class`, `no_target` (a strategy is domain_aware),
/// `needs_uncertainty` (numbers, and the learner does not give variances), `not_enough_memory`.
LabelSimulation simulate_labelling(const Dataset& data, const Pipeline& pipeline,
                                   const std::vector<Strategy>& strategies, const SimulateOptions& options,
                                   const Context& context);

}  // namespace ecotone
