#include "ecotone/methods/select/step/step.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/methods/select/selection_state.h"

namespace ecotone {
namespace {

constexpr Centring step_centring{.x = true, .y = true};

}  // namespace

PathRoute step_route(const Features& x, Index groups, const StepOptions& options, const Context& context) {
  if (options.route != PathRoute::automatic) return options.route;
  // Different penalties and folds select different features.
  const double most = options.size.value.value_or(options.steps);
  const double distinct = std::ceil(2 * std::min(most, static_cast<double>(x.cols())));
  return cheaper_route(x, groups, static_cast<Index>(distinct), GramKind::double_precision, context);
}

PenalisedOptions step_options(const StepOptions& options, Index domains) {
  PenalisedOptions result;
  result.steps = options.steps;
  result.lam = options.lam.value;
  if (const auto& size = options.size.value) {
    if (*size != std::floor(*size))
      option_error("bad_option", "step: size must be auto or a whole number, got {}", *size);
    result.size = static_cast<Index>(*size);
  }
  result.mix = penalty_mixes("step", options.penalty, domains, {0.0, 1.0});
  result.shares = options.domain_weights;
  result.judge = {options.score, options.rule};
  return result;
}

std::string step_summary(const PenalisedSelection& run) {
  const Index size = run.path.steps();
  if (run.kept_empty) return "no feature: none beats the empty model by one standard error on held-out data";
  return fmt::format("{} feature{}, lam {:.4g}{}{}", size, size == 1 ? "" : "s", run.penalty.lam,
                     run.penalty.mix > 0 ? fmt::format(", mix {:.4g}", run.penalty.mix) : "",
                     run.path.stopped_early ? "; no further feature could be chosen" : "");
}

StepInput::StepInput(const TrainView& given, const Refits* refits, const StepOptions& options, bool folds,
                     const Context& context)
    : near(selection_view("step", given, step_centring, context)),
      path(step_options(options, labelled_domains(near.view))),
      refit((folds || !path.lam || !path.size || path.mix.size() > 1) &&
            refits_stages("step", given, near.view, refits, false, context)),
      left_out(refit ? leave_out_view(near.view, path.shares, refits->rows())
                     : leave_out_view(near.view, path.shares, context)),
      data("step", left_out.view),
      route(step_route(near.view.x, left_out.view.domain.count(), options, context)) {
  path.shares = left_out.shares;
  path.folds = folds;
  if (refit) path.refitted = refitted_rows("step", given, left_out.view, *refits, step_centring, context);
}

PenalisedSelection run_step(const MomentColumns& moments, const MomentRows* rows, PenalisedOptions options,
                            const Context& context) {
  if (rows == nullptr) warn_lost_digits("step", moments.moments, step_centring, context);
  if (moments.moments.gram_kind() == GramKind::single_precision) options.zero = 1e-5;
  PenalisedSelection run = select_penalised(moments.moments, *moments.columns, rows, options, context);
  if (rows != nullptr) warn_one_class_groups("step", options.judge.score, *rows, run.table, context);
  if (run.kept_empty)
    context.warn("empty_model", "step: {}{}", step_summary(run),
                 first_of_path_text(run.first, moments.moments.features));
  if (options.size && run.path.steps() < *options.size)
    context.note("step: the path ends after {} of {} features because no further feature could be chosen",
                 run.path.steps(), *options.size);
  return run;
}

std::optional<PenalisedSelection> choose_apart(const TrainView& view, const Refits* refits, const StepOptions& options,
                                               StepInput& input, const Context& context) {
  const std::vector<Index> rows = rows_for_choice(view);
  PenalisedOptions& path = input.path;
  if (rows.empty() || (path.lam && path.size && path.mix.size() == 1)) return std::nullopt;
  const TrainView part = view_of_rows(view, rows);
  const std::optional<Refits> refits_of_part = refits_of_rows(refits, part, rows);
  const StepInput own(part, refits_of_part ? &*refits_of_part : nullptr, options, false, context);
  const MomentRows own_rows = own.data.rows();
  const auto moments = moment_columns(own.data, own.route, GramKind::double_precision, context);
  PenalisedSelection chosen = run_step(*moments, &own_rows, own.path, context);
  path.lam = chosen.penalty.lam;
  path.mix = {chosen.penalty.mix};
  path.size = chosen.path.steps();
  return chosen;
}

StageResult Step::fit(const TrainView& view, const StepOptions& options, const Context& context, FitCache& cache) {
  return fit_refitting(view, nullptr, options, context, cache);
}

StageResult Step::fit_refitting(const TrainView& view, const Refits* refits, const StepOptions& options,
                                const Context& context, FitCache& cache) {
  StepInput input(view, refits, options, false, context);
  std::optional<PenalisedSelection> chosen = choose_apart(view, refits, options, input, context);
  const auto moments = moment_columns(input.data, input.route, GramKind::double_precision, &cache, context);
  const MomentRows rows = input.data.rows();
  auto fitted = std::make_shared<Step>();
  fitted->run_ = run_step(*moments, &rows, input.path, context);
  if (chosen) {
    fitted->run_.table = std::move(chosen->table);
    fitted->run_.kept_empty = chosen->kept_empty;
  }
  fitted->run_.folds.clear();
  input.near.move_back(fitted->run_.path);
  fitted->take(view.y.task, fitted->run_.path, fitted->run_.first);
  fitted->route_ = route_name(moments->route);
  fitted->left_out_ = input.left_out.by_rows ? "rows" : "domains";
  std::string summary = step_summary(fitted->run_);
  return pass_on(std::move(fitted), view, context, {true, std::move(summary)});
}

SumsResult Step::fit_on_sums(const RowSums& sums, const StepOptions& options, const Context& context) {
  const auto moments = moment_columns("step", signed_moments("step", sums), context);
  auto fitted = std::make_shared<Step>();
  fitted->run_ = run_step(*moments, nullptr, step_options(options, moments->moments.group_count()), context);
  fitted->run_.folds.clear();
  fitted->take(sums.task, fitted->run_.path, fitted->run_.first);
  fitted->route_ = route_name(moments->route);
  fitted->left_out_ = "domains";
  RowSums next = fitted->passed_on_sums(sums);
  std::string summary = step_summary(fitted->run_);
  return {std::move(fitted), std::move(next), {true, std::move(summary)}};
}

StageState Step::save() const {
  StageState state;
  state.set("indices", as_vector(run_.path.indices));
  state.set("gain", as_vector(run_.path.gain));
  state.set("loss", as_vector(run_.path.loss));
  state.set("weights", weights());
  state.info["offset"] = offset();
  state.info["size"] = run_.path.steps();
  state.info["lam"] = run_.penalty.lam;
  state.info["mix"] = run_.penalty.mix;
  state.info["kept_empty"] = run_.kept_empty;
  state.info["left_out"] = left_out_;
  state.info["route"] = route_;
  state.info["stopped_early"] = run_.path.stopped_early;
  save_first(state);
  save_table(state, run_.table);
  return state;
}

std::shared_ptr<const Fitted> Step::load(const StageState& state, const StepOptions&, const StageInput& input) {
  auto fitted = std::make_shared<Step>();
  PathResult& path = fitted->run_.path;
  path.indices = loaded_columns(state, "indices", input.cols);
  if (std::set<Index>(path.indices.begin(), path.indices.end()).size() != path.indices.size())
    file_error("bad_model", "array 'indices' must hold every column once");
  if (state.count("size") != path.steps()) file_error("bad_model", "'size' must be {}", path.steps());
  path.support = path.indices;
  path.gain = loaded_array(state, "gain", path.steps());
  path.loss = loaded_array(state, "loss", path.steps());
  path.stopped_early = state.flag("stopped_early");
  fitted->load_columns(state, input, path.support);
  fitted->run_.penalty = {state.number("lam"), state.number("mix")};
  fitted->run_.kept_empty = state.flag("kept_empty");
  fitted->run_.table = load_table(state);
  fitted->left_out_ = state.text("left_out");
  fitted->route_ = state.text("route");
  return fitted;
}

namespace {

StageResult fit_step_with_refits(const TrainView& view, const Refits& refits, const OptionValues& values,
                                 const Context& context, FitCache& cache) {
  return Step::fit_refitting(view, &refits, read_options<StepOptions>(values), context, cache);
}

}  // namespace

Method step_method() {
  return make_method<StepOptions, Step::fit, Step::load>(
      {.name = "step",
       .family = Family::select,
       .summary =
           "Selects features by forward steps on a penalised loss; leave-one-domain-out sets the penalty and the size.",
       .when = "when the number of columns should follow from held-out domains instead of being set.",
       .example = "impute | scale | step | logistic",
       .citation = "",
       .routes = {{Route::streamed}},
       .learns = Learns::two_classes,
       .select = [](const SelectionInput& input, const OptionValues& values,
                    const Context& context) { return select_step(input, read_options<StepOptions>(values), context); },
       .fit_with_refits = fit_step_with_refits,
       .sums = sums_route<StepOptions, Step::fit_on_sums, require_sums_judge<StepOptions>>()});
}

}  // namespace ecotone
