#include "ecotone/methods/select/icp/icp.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/methods/select/selection_state.h"
#include "ecotone/methods/select/selection_view.h"

namespace ecotone {

std::string icp_status(const IcpResult& result) { return result.found ? "ok" : "no_invariant_set"; }

IcpResult run_icp(MomentColumns& moments, const IcpStageOptions& options, std::string_view who,
                  const Context& context) {
  IcpResult result = invariant_sets(moments.moments, *moments.columns,
                                    {.test = options.test, .alpha = options.alpha, .most = options.most}, who, context);
  if (!result.all)
    context.note(
        "{}: looks at the {} of {} features that enter the lasso path first; what it says holds only if the causes are "
        "among them",
        who, result.screened.size(), moments.moments.cols());
  return result;
}

PathResult icp_path(const IcpResult& result) {
  PathResult path;
  path.indices = path.support = result.selected;
  const std::size_t steps = result.selected.size();
  path.weights.resize(steps);
  path.offset.resize(steps, result.offset);
  if (steps > 0) path.weights.back().assign(result.weights.data(), result.weights.data() + result.weights.size());
  path.empty_offset = result.offset;
  return path;
}

namespace {

/// The view without rows of weight 0, because the tests count rows. Domains that have no others stay: selection_view
/// leaves them out and says so.
TrainView counted_rows(const TrainView& view) {
  if (view.weight.size() == 0 || (view.weight.array() > 0).all()) return view;
  std::vector<bool> counted(view.domain.names.size());
  for (Index i = 0; i < view.labelled(); ++i)
    if (view.weight[i] > 0) counted[at(view.domain.index[at(i)])] = true;
  std::vector<Index> kept;
  for (Index i = 0; i < view.labelled(); ++i)
    if (view.weight[i] > 0 || !counted[at(view.domain.index[at(i)])]) kept.push_back(i);
  return view_of_rows(view, kept);
}

/// What the next stage gets where nothing is selected: the feature with the smallest p.
std::optional<Index> nearest_cause(const IcpResult& result) {
  if (!result.selected.empty() || result.screened.empty()) return std::nullopt;
  Index least = 0;
  result.pvalue.minCoeff(&least);
  return result.screened[at(least)];
}

void warn_of_nothing(const IcpResult& result, const Moments& moments, const Context& context) {
  if (!result.selected.empty()) return;
  const std::optional<Index> nearest = nearest_cause(result);
  context.warn("empty_model", "icp: {}{}",
               result.found ? "the accepted sets share no feature, so nothing says that one is a cause"
                            : "no set of features predicts alike in all domains (the rule is not linear, a cause is "
                              "missing, or the label itself was shifted)",
               nearest ? fmt::format("; a later stage gets the feature with the smallest p-value, '{}'",
                                     moments.features[at(*nearest)])
                       : "");
}

std::string icp_summary(const IcpResult& result) {
  const Index accepted = std::ranges::count(result.sets, true, &IcpSet::accepted);
  return fmt::format("{}: {} of {} sets accepted, {} features selected", icp_status(result), accepted,
                     result.sets.size(), result.selected.size());
}

}  // namespace

void Icp::keep(Task task, const IcpResult& result, const PathResult& path) {
  take(task, path, nearest_cause(result));
  screened_ = result.screened;
  pvalue_ = result.pvalue;
  status_ = icp_status(result);
  sets_ = std::ssize(result.sets);
  accepted_ = std::ranges::count(result.sets, true, &IcpSet::accepted);
  untested_ = result.untested;
  if (!result.found) return;
  best_ = result.sets[at(result.best)].features;
  best_p_ = result.sets[at(result.best)].p;
}

StageResult Icp::fit(const TrainView& view, const IcpStageOptions& options, const Context& context, FitCache& cache) {
  const SelectionView near = selection_view("icp", counted_rows(view), {.x = true, .y = true}, context);
  const SelectionData data("icp", near.view);
  const PathRoute route =
      cheaper_route(near.view.x, near.view.domain.count(), options.most, GramKind::double_precision, context);
  const auto moments = moment_columns(data, route, GramKind::double_precision, &cache, context);
  const IcpResult result = run_icp(*moments, options, "icp", context);
  warn_of_nothing(result, moments->moments, context);
  PathResult path = icp_path(result);
  near.move_back(path);
  auto fitted = std::make_shared<Icp>();
  fitted->keep(view.y.task, result, path);
  return pass_on(std::move(fitted), view, context, {true, icp_summary(result)});
}

SumsResult Icp::fit_on_sums(const RowSums& sums, const IcpStageOptions& options, const Context& context) {
  const auto moments = moment_columns("icp", signed_moments("icp", sums), context);
  warn_lost_digits("icp", moments->moments, {.x = true, .y = true}, context);
  const IcpResult result = run_icp(*moments, options, "icp", context);
  warn_of_nothing(result, moments->moments, context);
  auto fitted = std::make_shared<Icp>();
  fitted->keep(sums.task, result, icp_path(result));
  RowSums next = fitted->passed_on_sums(sums);
  return {std::move(fitted), std::move(next), {true, icp_summary(result)}};
}

StageState Icp::save() const {
  StageState state;
  state.set("support", as_vector(support()));
  state.set("weights", weights());
  state.set("screened", as_vector(screened_));
  state.set("pvalue", pvalue_);
  state.set("best_set", as_vector(best_));
  state.info["best_p"] = best_p_;
  state.info["offset"] = offset();
  state.info["outcome"] = status_;
  state.info["sets"] = sets_;
  state.info["accepted"] = accepted_;
  state.info["untested"] = untested_;
  save_first(state);
  return state;
}

std::shared_ptr<const Fitted> Icp::load(const StageState& state, const IcpStageOptions&, const StageInput& input) {
  auto fitted = std::make_shared<Icp>();
  std::vector<Index> support = loaded_columns(state, "support", input.cols);
  if (std::set<Index>(support.begin(), support.end()).size() != support.size())
    file_error("bad_model", "array 'support' must hold every column once");
  fitted->load_columns(state, input, std::move(support));
  fitted->screened_ = loaded_columns(state, "screened", input.cols);
  fitted->pvalue_ = state.vector("pvalue", std::ssize(fitted->screened_));
  fitted->best_ = loaded_columns(state, "best_set", input.cols);
  fitted->best_p_ = state.number("best_p");
  fitted->status_ = state.text("outcome");
  fitted->sets_ = state.count("sets");
  fitted->accepted_ = state.count("accepted");
  fitted->untested_ = state.count("untested");
  return fitted;
}

namespace {

FeatureSelection select_by_icp(const SelectionInput& input, const OptionValues& values, const Context& context) {
  const auto options = read_options<IcpStageOptions>(values);
  if (input.view == nullptr) return select_icp(input, options, context);
  const TrainView view = counted_rows(*input.view);
  SelectionInput counted = input;
  counted.view = &view;
  return select_icp(counted, options, context);
}

}  // namespace

Method icp_method() {
  return make_method<IcpStageOptions, Icp::fit, Icp::load>(
      {.name = "icp",
       .family = Family::select,
       .summary = "Finds features that every set with the same linear rule in all domains shares: likely causes.",
       .when = "to explain which columns may be causes of the label, with `select`. Assumes linear rules with the same "
               "errors in all domains and no hidden causes; where that fails it selects nothing, which says little. Do "
               "not use it to predict: all columns together predict better in published comparisons.",
       .example = "impute | scale | icp | logistic",
       .citation = "peters2016",
       .routes = {{Route::streamed}},
       .learns = Learns::two_classes,
       .select = select_by_icp,
       .sums = sums_route<IcpStageOptions, Icp::fit_on_sums>()});
}

}  // namespace ecotone
