#include "ecotone/methods/learn/ridge/ridge.h"

#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/methods/select/selection_state.h"
#include "ecotone/methods/select/selection_view.h"
#include "ecotone/methods/weighted_sum.h"

namespace ecotone {
namespace {

RidgeRoute route_of(const std::string& name) {
  for (const RidgeRoute route : {RidgeRoute::features, RidgeRoute::rows})
    if (name == route_name(route)) return route;
  file_error("bad_model", "'route' must be features or rows, got '{}'", name);
}

/// The fit of a view, and whether rows were left out instead of domains.
struct RidgeRun {
  RidgePathFit fit;
  bool by_rows = false;
};

/// `chosen`: where lam and mix come from; null: the options.
RidgeRun run_ridge(const TrainView& view, const Refits* refits, const RidgeOptions& options, const RidgePathFit* chosen,
                   const Context& context) {
  RidgePathOptions path;
  path.lam = chosen != nullptr ? chosen->lam : options.lam.value;
  const SelectionView near = selection_view("ridge", view, {.x = true, .y = true}, context);
  path.mix = chosen != nullptr ? std::vector{chosen->mix}
                               : penalty_mixes("ridge", options.penalty, labelled_domains(near.view), {0.0, 0.5, 1.0});
  const bool chooses = !path.lam || path.mix.size() > 1;
  const bool refit = chooses && refits_stages("ridge", view, near.view, refits, false, context);
  const LeaveOutView left_out = refit ? leave_out_view(near.view, options.domain_weights, refits->rows())
                                      : leave_out_view(near.view, options.domain_weights, context);
  path.shares = left_out.shares;
  path.judge = {options.score, options.rule};
  if (refit) path.refitted = refitted_rows("ridge", view, left_out.view, *refits, {.x = true, .y = true}, context);
  const SelectionData data("ridge", left_out.view);
  RidgeRun run{fit_ridge_path(data.rows(), path, context), left_out.by_rows};
  run.fit.offset = near.moved_back(run.fit.offset, run.fit.weights);
  warn_one_class_groups("ridge", options.score, data.rows(), run.fit.table, context);
  if (run.fit.table && !left_out.by_rows) warn_of_pairs("ridge", view, context);
  return run;
}

/// Where groups are in several domains: the penalty is chosen on the rows for a choice, and all rows are fitted with
/// it.
RidgeRun run_apart(const TrainView& view, const std::vector<Index>& rows, const Refits* refits,
                   const RidgeOptions& options, const Context& context) {
  const TrainView part = view_of_rows(view, rows);
  const std::optional<Refits> own = refits_of_rows(refits, part, rows);
  RidgeRun run = run_ridge(part, own ? &*own : nullptr, options, nullptr, context);
  if (run.fit.kept_empty) return run;
  std::optional<LeftOutTable> table = std::move(run.fit.table);
  run.fit = run_ridge(view, nullptr, options, &run.fit, context).fit;
  run.fit.table = std::move(table);
  return run;
}

}  // namespace

StageResult Ridge::fit(const TrainView& view, const RidgeOptions& options, const Context& context, FitCache&) {
  return fit_refitting(view, nullptr, options, context);
}

StageResult Ridge::fit_refitting(const TrainView& view, const Refits* refits, const RidgeOptions& options,
                                 const Context& context) {
  const bool chooses = options.lam.is_auto() || options.penalty == PenaltyKind::automatic;
  const std::vector<Index> rows = chooses ? rows_for_choice(view) : std::vector<Index>{};
  RidgeRun run = rows.empty() ? run_ridge(view, refits, options, nullptr, context)
                              : run_apart(view, rows, refits, options, context);
  auto fitted = std::make_shared<Ridge>();
  fitted->fit_ = std::move(run.fit);
  fitted->task_ = view.y.task;
  fitted->left_out_ = run.by_rows ? "rows" : "domains";
  Status status = fitted->status(context);
  return {std::move(fitted), view, std::move(status)};
}

SumsResult Ridge::fit_on_sums(const RowSums& sums, const RidgeOptions& options, const Context& context) {
  const Moments moments = signed_moments("ridge", sums);
  warn_lost_digits("ridge", moments, {.x = true, .y = true}, context);
  RidgePathOptions path;
  path.lam = options.lam.value;
  path.mix = penalty_mixes("ridge", options.penalty, moments.group_count(), {0.0, 0.5, 1.0});
  path.shares = options.domain_weights;
  path.judge = {options.score, options.rule};
  auto fitted = std::make_shared<Ridge>();
  fitted->fit_ = fit_ridge_path(moments, path, context);
  fitted->task_ = sums.task;
  fitted->left_out_ = "domains";
  Status status = fitted->status(context);
  return {std::move(fitted), sums, std::move(status)};
}

Status Ridge::status(const Context& context) const {
  if (!fit_.kept_empty) return {true, fmt::format("lam {:.4g}", fit_.lam)};
  Status status{true, "all weights are 0: no penalty beats the empty model by one standard error on what was left out"};
  context.warn("empty_model", "ridge: {}", status.text);
  return status;
}

Prediction Ridge::predict(const Batch& batch, const Context& context) const {
  return weighted_sum(batch.x, fit_.weights, fit_.offset, task_, context);
}

StageState Ridge::save() const {
  StageState state;
  state.set("weights", fit_.weights);
  state.info["offset"] = fit_.offset;
  state.info["lam"] = fit_.lam;
  state.info["mix"] = fit_.mix;
  state.info["kept_empty"] = fit_.kept_empty;
  state.info["left_out"] = left_out_;
  state.info["route"] = route_name(fit_.route);
  save_table(state, fit_.table);
  return state;
}

std::shared_ptr<const Fitted> Ridge::load(const StageState& state, const RidgeOptions&, const StageInput& input) {
  require_binary_or_regression_model(input);
  auto fitted = std::make_shared<Ridge>();
  fitted->task_ = input.task;
  fitted->fit_.weights = state.vector("weights", input.cols);
  fitted->fit_.offset = state.number("offset");
  fitted->fit_.lam = state.number("lam");
  fitted->fit_.mix = state.number("mix");
  fitted->fit_.kept_empty = state.flag("kept_empty");
  fitted->fit_.route = route_of(state.text("route"));
  fitted->fit_.table = load_table(state);
  fitted->left_out_ = state.text("left_out");
  return fitted;
}

namespace {

StageResult fit_ridge_with_refits(const TrainView& view, const Refits& refits, const OptionValues& values,
                                  const Context& context, FitCache&) {
  return Ridge::fit_refitting(view, &refits, read_options<RidgeOptions>(values), context);
}

}  // namespace

Method ridge_method() {
  return make_method<RidgeOptions, Ridge::fit, Ridge::load>(
      {.name = "ridge",
       .family = Family::learn,
       .summary = "Ridge regression on the mean squared loss of the domains, with the penalty by leave-one-domain-out.",
       .when = "when every domain should count the same, however many rows it has; penalty=variance trusts columns "
               "less where domains disagree.",
       .example = "impute | scale | ridge",
       .citation = "",
       .routes = {{Route::streamed}, {Route::ranks}},
       .learns = Learns::two_classes,
       .fit_with_refits = fit_ridge_with_refits,
       .sums = beside_targets(sums_route<RidgeOptions, Ridge::fit_on_sums, require_sums_judge<RidgeOptions>>())});
}

}  // namespace ecotone
