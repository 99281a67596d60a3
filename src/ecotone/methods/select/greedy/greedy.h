#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/methods/refits.h"
#include "ecotone/methods/select/selected_columns.h"
#include "ecotone/methods/select/selection_data.h"
#include "ecotone/methods/select/selection_view.h"
#include "ecotone/solve/paths/stopping.h"

namespace ecotone {

enum class PathCentre { none, source };
enum class SquareSource { labelled, all };

/// Options of tgreedy and greedy.
struct GreedyOptions {
  int steps = 25;
  PathMode mode = PathMode::stagewise;
  PathStop stop = PathStop::steps;
  double delta = 0.05;
  SizeRule size = SizeRule::one_se;
  bool absolute = true;
  GroupShares domain_weights = GroupShares::equal;
  double min_gain = 0;
  PathCentre centre = PathCentre::none;
  bool intercept = false;
  bool nonnegative = false;
  SquareSource ex2 = SquareSource::labelled;
  PathRoute route = PathRoute::automatic;

  static constexpr auto fields() {
    return std::tuple{
        field("steps", &GreedyOptions::steps, "Largest number of steps; each takes one feature", between(1, 100000)),
        field("mode", &GreedyOptions::mode,
              "stagewise: a step moves one weight and a feature may return; stepwise: all chosen weights are refitted; "
              "ortho, ortho_resid: features are made orthonormal to the chosen ones and judged by Y or by the residual",
              one_of("stagewise", "stepwise", "ortho", "ortho_resid")),
        field("stop", &GreedyOptions::stop,
              "Where the path stops: after all steps, by leave-one-domain-out, at the first step that Student's t with "
              "a Bonferroni correction does not support, or at the threshold of Theorem 1",
              one_of("steps", "lodo", "student", "theorem1")),
        field("delta", &GreedyOptions::delta, "Error probability of stop=student and stop=theorem1",
              Limits{.low = 0, .high = 1, .open_low = true, .open_high = true}),
        field("size", &GreedyOptions::size,
              "stop=lodo: the smallest size within one standard error of the smallest loss, or the size with the "
              "smallest loss; no feature unless it beats the empty model by one standard error",
              one_of("one_se", "best")),
        field("absolute", &GreedyOptions::absolute, "false: select only features with a positive mean covariance"),
        field("domain_weights", &GreedyOptions::domain_weights, "Weight domains equally, or by their number of rows",
              one_of("equal", "pooled")),
        field("min_gain", &GreedyOptions::min_gain,
              "A feature must lower the loss by this fraction of E[Y^2]; a few times 1 / (rows of a domain) keeps out "
              "features that depend on a single row",
              at_least(0.0)),
        field("centre", &GreedyOptions::centre,
              "source: centre features at their mean over the source domains, never over targets",
              one_of("none", "source")),
        field("intercept", &GreedyOptions::intercept,
              "Fit an offset: features and labels are centred over the source domains"),
        field("nonnegative", &GreedyOptions::nonnegative,
              "Keep weights >= 0; only with mode=stagewise and mode=stepwise"),
        field("ex2", &GreedyOptions::ex2,
              "Compute E[X^2] of the update from the labelled domains, or from all domains including targets "
              "(mode=stagewise only)",
              one_of("labelled", "all")),
        field("route", &GreedyOptions::route,
              "Compute columns of X'X as they are needed, or all of it first; auto: whichever costs less",
              one_of("auto", "lazy", "gram"))};
  }
};

/// The result of running a selector: the path and the facts about it.
struct GreedyRun {
  Selection selection;
  PathRoute route = PathRoute::lazy;
  std::optional<Index> first;  ///< if no step is kept: the first feature of the path
};

/// Which quantities the options centre.
Centring greedy_centring(const GreedyOptions& options);

/// The folds of leave-one-domain-out on rows of a view (`near`: shifted near 0), with the stages before it refitted;
/// none if there are no stages or if they are not refitted, which a note says. `folds`: it runs even if `stop` does not
/// need it. All must outlive the result.
RefittedRows greedy_folds(PathRule rule, const TrainView& view, const SelectionView& near, const Refits* refits,
                          const GreedyOptions& options, bool folds, const Context& context);
/// Runs on given moments, with E[X^2] of all groups if the options say so.
GreedyRun run_greedy(PathRule rule, MomentColumns& moments, const GreedyOptions& options, bool folds,
                     const RefittedRows& refitted, const Context& context);
/// The route that the options imply for these data; `folds`: leave-one-domain-out runs in any case.
PathRoute greedy_route(const Features& x, Index groups, const GreedyOptions& options, bool folds,
                       const Context& context);

/// Features selected by tgreedy or greedy.
class Greedy : public SelectedColumns {
 public:
  template <PathRule rule>
  static StageResult fit(const TrainView& view, const GreedyOptions& options, const Context& context, FitCache& cache) {
    return fit_rule(rule, view, nullptr, options, context, cache);
  }
  /// The same with the stages before it refitted in the folds of stop=lodo.
  static StageResult fit_rule(PathRule rule, const TrainView& view, const Refits* refits, const GreedyOptions& options,
                              const Context& context, FitCache& cache);
  template <PathRule rule>
  static SumsResult fit_on_sums(const RowSums& sums, const GreedyOptions& options, const Context& context) {
    return fit_rule_on_sums(rule, sums, options, context);
  }
  static SumsResult fit_rule_on_sums(PathRule rule, const RowSums& sums, const GreedyOptions& options,
                                     const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const GreedyOptions& options,
                                            const StageInput& input);

  StageState save() const override;

 private:
  PathResult path_;  ///< the steps that were kept
  std::string route_;
};

/// "12 of 25 steps, 9 features".
std::string greedy_summary(const GreedyRun& run, const GreedyOptions& options);

}  // namespace ecotone
