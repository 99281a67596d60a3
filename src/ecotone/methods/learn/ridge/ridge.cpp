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

}  // namespace

StageResult Ridge::fit(const TrainView& view, const RidgeOptions& options, const Context& context, FitCache&) {
  return fit_refitting(view, nullptr, options, context);
}

StageResult Ridge::fit_refitting(const TrainView& view, const Refits* refits, const RidgeOptions& options,
                                 const Context& context) {
  RidgePathOptions path;
  path.lam = options.lam.value;
  const SelectionView near = selection_view("ridge", view, {.x = true, .y = true}, context);
  path.mix = penalty_mixes("ridge", options.penalty, labelled_domains(near.view), {0.0, 0.5, 1.0});
  const bool chooses = options.lam.is_auto() || path.mix.size() > 1;
  // Domains without weight are not in the view, but in the folds.
  const bool refit = refits != nullptr && chooses && refits->folds > 1 && can_afford_refits(*refits) &&
                     near.view.labelled() == view.labelled();
  const LeaveOutView left_out = refit ? leave_out_view(near.view, options.domain_weights, refits->rows())
                                      : leave_out_view(near.view, options.domain_weights, context);
  path.shares = left_out.shares;
  path.judge = {options.score, options.rule};
  if (refit) path.refitted = refitted_rows("ridge", view, left_out, *refits, context);
  const SelectionData data("ridge", left_out.view);
  auto fitted = std::make_shared<Ridge>();
  fitted->fit_ = fit_ridge_path(data.rows(), path, context);
  fitted->fit_.offset = near.moved_back(fitted->fit_.offset, fitted->fit_.weights);
  warn_one_class_groups("ridge", options.score, data.rows(), fitted->fit_.table, context);
  if (fitted->fit_.table && !left_out.by_rows) warn_of_pairs("ridge", view, context);
  fitted->task_ = view.y.task;
  fitted->left_out_ = left_out.by_rows ? "rows" : "domains";
  Status status{true, fmt::format("lam {:.4g}", fitted->fit_.lam)};
  if (fitted->fit_.kept_empty) {
    status.text = "all weights are 0: no penalty beats the empty model by one standard error on what was left out";
    context.warn("empty_model", "ridge: {}", status.text);
  }
  return {std::move(fitted), view, std::move(status)};
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
       .learns = Learns::two_classes,
       .fit_with_refits = fit_ridge_with_refits});
}

}  // namespace ecotone
