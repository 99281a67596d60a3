#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/methods/select/penalised_data.h"
#include "ecotone/methods/select/selected_columns.h"
#include "ecotone/methods/select/selection_view.h"
#include "ecotone/solve/paths/penalised_selection.h"

namespace ecotone {

/// Options of step.
struct StepOptions {
  int steps = 100;
  AutoNumber size;
  AutoNumber lam;
  PenaltyKind penalty = PenaltyKind::ridge;
  GroupShares domain_weights = GroupShares::equal;
  PathRoute route = PathRoute::automatic;
  LeftOutScore score = LeftOutScore::automatic;
  LeftOutRule rule = LeftOutRule::one_se;

  static constexpr auto fields() {
    const auto own = std::tuple{
        field("steps", &StepOptions::steps, "Largest number of features", between(1, 100000)),
        field(
            "size", &StepOptions::size,
            "Number of features; auto: by the score of left-out training domains, or of left-out rows if there is one "
            "domain; none unless they beat the empty model by one standard error",
            between(1, 100000)),
        field("lam", &StepOptions::lam,
              "Penalty lam sum v_i w_i^2 added to the domains' mean squared error, features in units of E[x^2] = 1; as "
              "strong as l2 = lam / 2 of least_squares on scaled features. auto: by the score of left-out training "
              "domains, or of left-out rows if there is one domain",
              at_least(0.0)),
        field("penalty", &StepOptions::penalty,
              "ridge: v_i is 1; variance: larger where the covariance with the label varies across domains; auto: by "
              "leave-one-domain-out. variance and auto need five domains",
              one_of("ridge", "variance", "auto")),
        field("domain_weights", &StepOptions::domain_weights, "Weight domains equally, or by their number of rows",
              one_of("equal", "pooled")),
        field("route", &StepOptions::route,
              "Compute columns of X'X as they are needed, or all of it first; auto: whichever costs less",
              one_of("auto", "lazy", "gram"))};
    return std::tuple_cat(own, judge_fields<StepOptions>());
  }
};

/// The route that the options imply for these data.
PathRoute step_route(const Features& x, Index groups, const StepOptions& options, const Context& context);
/// The path options for this many domains. Option error `bad_option` for a size that is not a whole number; data error
/// `needs_five_domains`.
PenalisedOptions step_options(const StepOptions& options, Index domains);
/// The input of a run on rows: the view shifted near 0, whose domains are left out in turn. Everything given must
/// outlive it.
struct StepInput {
  /// `refits`: null if no stage stands before it; `folds`: leave-one-domain-out runs even if nothing is to be chosen.
  StepInput(const TrainView& given, const Refits* refits, const StepOptions& options, bool folds,
            const Context& context);
  StepInput(const StepInput&) = delete;
  StepInput& operator=(const StepInput&) = delete;

  SelectionView near;
  PenalisedOptions path;
  bool refit;  ///< the stages before it are refitted in every fold
  LeaveOutView left_out;
  SelectionData data;  ///< of left_out.view
  PathRoute route;
};

/// Runs on given moments, of `rows` or (null) from a file, and reports warnings and notes.
PenalisedSelection run_step(const MomentColumns& moments, const MomentRows* rows, PenalisedOptions options,
                            const Context& context);
/// Chooses lam, mix and size on the rows for a choice, where groups are in several domains, and fixes them in the
/// input; otherwise there is nothing to do.
std::optional<PenalisedSelection> choose_apart(const TrainView& view, const Refits* refits, const StepOptions& options,
                                               StepInput& input, const Context& context);
/// "7 features, lam 0.3".
std::string step_summary(const PenalisedSelection& run);

/// Features selected by a penalised path.
class Step : public SelectedColumns {
 public:
  static StageResult fit(const TrainView& view, const StepOptions& options, const Context& context, FitCache& cache);
  /// The same with the stages before it refitted in the folds that choose, if that is affordable.
  static StageResult fit_refitting(const TrainView& view, const Refits* refits, const StepOptions& options,
                                   const Context& context, FitCache& cache);
  static SumsResult fit_on_sums(const RowSums& sums, const StepOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const StepOptions& options,
                                            const StageInput& input);

  StageState save() const override;

 private:
  PenalisedSelection run_;
  std::string route_;
  std::string left_out_;  ///< "domains" or "rows"
};

}  // namespace ecotone
