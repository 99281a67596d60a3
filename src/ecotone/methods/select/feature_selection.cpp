#include "ecotone/methods/select/feature_selection.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "ecotone/methods/cross_fit.h"
#include "ecotone/solve/paths/auroc.h"

namespace ecotone {
namespace {

std::vector<std::string> labelled_names(const Moments& moments) {
  std::vector<std::string> names;
  for (const Index g : labelled_list(moments)) names.push_back(moments.groups[at(g)]);
  return names;
}

/// AUROC along the steps kept: on the rows given, and on the domains left out where paths were run without them.
template <class Run>
void add_auroc(FeatureSelection& result, const MomentRows& rows, const Moments& moments, const PathResult& kept,
               const Run& run, const RefittedRows& refitted, const Context& context) {
  result.source_auroc = path_auroc(rows.x, rows.y, kept, context);
  if (!run.folds.empty())
    result.held_out_auroc = left_out_auroc(rows, run.refitted ? refitted : RefittedRows{}, labelled_list(moments),
                                           run.folds, kept.steps(), context);
}

bool are_signs(const Vector& y) { return (y.array().abs() == 1).all(); }

FeatureSelection greedy_on_moments(PathRule rule, const SelectionInput& input, const GreedyOptions& options,
                                   const Context& context) {
  const auto moments = moment_columns(input.who, *input.moments, context);
  warn_lost_digits(input.who, moments->moments, greedy_centring(options), context);
  GreedyRun run = run_greedy(rule, *moments, options, input.held_out, {}, context);
  FeatureSelection result = selection_of(moments->moments, run.route);
  result.found = GreedySelection{rule, options, std::move(run)};
  return result;
}

struct RowsToSelectFrom {
  std::optional<TrainView> part;  ///< empty: all rows
  const TrainView* all;
  std::optional<Refits> refits;  ///< of the stages before

  const TrainView& view() const { return part ? *part : *all; }
  const Refits* refits_or_null() const { return refits ? &*refits : nullptr; }
};

/// What is reported of domains left out comes from sums over domains, so a group in several domains keeps the rows of
/// one.
RowsToSelectFrom rows_to_select_from(const SelectionInput& input, const Context& context) {
  const std::vector<Index> rows = rows_for_choice(*input.view);
  if (rows.empty()) return {{}, input.view, input.refits != nullptr ? std::optional(*input.refits) : std::nullopt};
  context.warn("groups_in_domains",
               "{}: {} of {} rows are left out: their group has more rows in another domain, and rows of one group are "
               "never on both sides",
               input.who, input.view->labelled() - std::ssize(rows), input.view->labelled());
  TrainView part = view_of_rows(*input.view, rows);
  std::optional<Refits> refits = refits_of_rows(input.refits, part, rows);
  return {std::move(part), input.view, std::move(refits)};
}

FeatureSelection greedy_on_rows(PathRule rule, const SelectionInput& input, const GreedyOptions& options,
                                const Context& context) {
  const RowsToSelectFrom from = rows_to_select_from(input, context);
  const SelectionView near = selection_view(input.who, from.view(), greedy_centring(options), context);
  const TrainView& view = near.view;
  const SelectionData data(input.who, view);
  const PathRoute route = greedy_route(view.x, view.domain.count(), options, input.held_out, context);
  const auto moments = moment_columns(data, route, GramKind::double_precision, input.cache, context);
  const RefittedRows refitted =
      greedy_folds(rule, from.view(), near, from.refits_or_null(), options, input.held_out, context);
  GreedyRun run = run_greedy(rule, *moments, options, input.held_out, refitted, context);
  FeatureSelection result = selection_of(moments->moments, run.route);
  Selection& selection = run.selection;
  const MomentRows rows = data.rows();
  if (view.y.task == Task::classify || are_signs(rows.y))
    add_auroc(result, rows, moments->moments, selection.path.head(selection.taken), selection, refitted, context);
  near.move_back(selection.path);
  result.found = GreedySelection{rule, options, std::move(run)};
  return result;
}

FeatureSelection step_on_moments(const SelectionInput& input, const StepOptions& options, const Context& context) {
  const auto moments = moment_columns(input.who, *input.moments, context);
  FeatureSelection result = selection_of(moments->moments, moments->route);
  PenalisedOptions path = step_options(options, static_cast<Index>(result.domains.size()));
  path.folds = input.held_out;
  PenalisedSelection run = run_step(*moments, nullptr, path, context);
  if (!input.held_out) run.folds.clear();
  result.found = StepSelection{.run = std::move(run)};
  return result;
}

FeatureSelection step_on_rows(const SelectionInput& input, const StepOptions& options, const Context& context) {
  const RowsToSelectFrom from = rows_to_select_from(input, context);
  const StepInput step(from.view(), from.refits_or_null(), options, input.held_out, context);
  const MomentRows rows = step.data.rows();
  const auto moments = moment_columns(step.data, step.route, GramKind::double_precision, input.cache, context);
  PenalisedSelection run = run_step(*moments, &rows, step.path, context);
  if (!input.held_out) run.folds.clear();
  FeatureSelection result = selection_of(moments->moments, moments->route);
  const TrainView& near = step.near.view;
  result.domains.clear();
  for (std::size_t d = 0; d < near.domain.names.size(); ++d)
    if (near.role[d] == Role::source) result.domains.push_back(near.domain.names[d]);
  if (are_signs(rows.y)) add_auroc(result, rows, moments->moments, run.path, run, step.path.refitted, context);
  step.near.move_back(run.path);
  result.found = StepSelection{.run = std::move(run), .by_rows = step.left_out.by_rows};
  return result;
}

}  // namespace

std::vector<double> StepSelection::held_out_loss() const {
  const auto& folds = run.folds;
  const auto known = static_cast<double>(std::ranges::count_if(folds, &PathResult::known));
  if (known == 0) return {};
  std::vector<double> result;
  for (Index step = 1; step <= run.path.steps(); ++step) {
    double mean = 0;
    for (std::size_t d = 0; d < folds.size(); ++d)
      if (folds[d].known()) mean += folds[d].group_loss_after(static_cast<Index>(d), step) / known;
    result.push_back(mean);
  }
  return result;
}

PathResult FeatureSelection::path() const {
  if (const auto* greedy = std::get_if<GreedySelection>(&found))
    return greedy->run.selection.path.head(greedy->run.selection.taken);
  if (const auto* icp = std::get_if<IcpSelection>(&found)) return icp_path(icp->run);
  return std::get<StepSelection>(found).run.path;
}

std::vector<Index> FeatureSelection::taken() const {
  if (of_class.empty()) return path().support;
  std::vector<std::vector<Index>> lists;
  for (const FeatureSelection& each : of_class) lists.push_back(each.taken());
  return in_turns(lists);
}

FeatureSelection selection_of(const Moments& moments, PathRoute route) {
  FeatureSelection result;
  result.route = route;
  result.features = moments.features;
  result.classes = moments.classes;
  result.domains = labelled_names(moments);
  return result;
}

FeatureSelection selection_of(std::vector<std::string> classes, std::vector<FeatureSelection> of_class) {
  FeatureSelection result;
  result.route = of_class.front().route;
  result.features = of_class.front().features;
  result.domains = of_class.front().domains;
  result.classes = std::move(classes);
  result.of_class = std::move(of_class);
  return result;
}

FeatureSelection select_greedy(PathRule rule, const SelectionInput& input, const GreedyOptions& options,
                               const Context& context) {
  return input.view ? greedy_on_rows(rule, input, options, context) : greedy_on_moments(rule, input, options, context);
}

FeatureSelection select_icp(const SelectionInput& input, const IcpStageOptions& options, const Context& context) {
  if (input.view == nullptr) {
    const auto moments = moment_columns(input.who, *input.moments, context);
    warn_lost_digits(input.who, moments->moments, {.x = true, .y = true}, context);
    FeatureSelection result = selection_of(moments->moments, moments->route);
    result.found = IcpSelection{options, run_icp(*moments, options, input.who, context)};
    return result;
  }
  const SelectionView near = selection_view(input.who, *input.view, {.x = true, .y = true}, context);
  const SelectionData data(input.who, near.view);
  const PathRoute route =
      cheaper_route(near.view.x, near.view.domain.count(), options.most, GramKind::double_precision, context);
  const auto moments = moment_columns(data, route, GramKind::double_precision, input.cache, context);
  FeatureSelection result = selection_of(moments->moments, route);
  IcpResult run = run_icp(*moments, options, input.who, context);
  run.offset = near.moved_back(run.offset, [&] {
    Vector all = Vector::Zero(near.view.x.cols());
    for (std::size_t k = 0; k < run.selected.size(); ++k) all[run.selected[k]] = run.weights[static_cast<Index>(k)];
    return all;
  }());
  result.found = IcpSelection{options, std::move(run)};
  return result;
}

FeatureSelection select_step(const SelectionInput& input, const StepOptions& options, const Context& context) {
  return input.view ? step_on_rows(input, options, context) : step_on_moments(input, options, context);
}

}  // namespace ecotone
