#include "ecotone/methods/select/greedy/greedy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/methods/select/penalised_data.h"
#include "ecotone/methods/select/selection_state.h"

namespace ecotone {
namespace {

const char* rule_name(PathRule rule) { return rule == PathRule::tgreedy ? "tgreedy" : "greedy"; }

/// E[X^2] as the mean over all groups, labelled or not.
Vector squares_of_all(const Moments& moments) {
  Vector sum = Vector::Zero(moments.cols());
  double count = 0;
  for (Index g = 0; g < moments.group_count(); ++g) {
    if (!(moments.weight[g] > 0)) continue;
    sum += moments.xx.row(g).transpose() / moments.weight[g];
    count += 1;
  }
  return sum / count;
}

PathOptions path_options(PathRule rule, const Moments& moments, const GreedyOptions& options) {
  const char* who = rule_name(rule);
  const bool ortho = options.mode == PathMode::ortho || options.mode == PathMode::ortho_resid;
  if (options.nonnegative && ortho)
    option_error("bad_option", "{}: nonnegative=true works only with mode=stagewise and mode=stepwise", who);
  if (options.ex2 == SquareSource::all && options.mode != PathMode::stagewise)
    option_error("bad_option", "{}: ex2=all works only with mode=stagewise", who);
  PathOptions result;
  result.rule = rule;
  result.mode = options.mode;
  result.steps = options.steps;
  result.absolute = options.absolute;
  result.shares = options.domain_weights;
  result.min_gain = options.min_gain;
  result.centring = greedy_centring(options);
  result.nonnegative = options.nonnegative;
  if (options.ex2 == SquareSource::all) {
    if (result.centring.x) option_error("bad_option", "{}: ex2=all cannot be centred; use centre=none", who);
    result.ex2 = squares_of_all(moments);
  }
  if (moments.gram_kind() == GramKind::single_precision) result.zero = 1e-5;
  return result;
}

void warn_of(PathRule rule, const GreedyRun& run, const GreedyOptions& options, const Moments& moments,
             const Context& context) {
  const Theorem1& theory = run.selection.theorem1;
  if (options.stop == PathStop::theorem1 && !theory.valid)
    context.warn("theorem1_invalid",
                 "{}: the condition of Theorem 1 needs {} domains, so its threshold {:.3g} is a heuristic here and no "
                 "guarantee",
                 rule_name(rule), theory.n_paper, theory.threshold);
  if (run.selection.path.stopped_early && options.stop == PathStop::steps)
    context.note("{}: the path ends after {} of {} steps because no further feature could be chosen", rule_name(rule),
                 run.selection.path.steps(), options.steps);
  if (run.first)
    context.warn("empty_model", "{}: the stopping rule keeps no feature{}", rule_name(rule),
                 first_of_path_text(run.first, moments.features));
}

}  // namespace

Centring greedy_centring(const GreedyOptions& options) {
  return {.x = options.centre == PathCentre::source || options.intercept, .y = options.intercept};
}

PathRoute greedy_route(const Features& x, Index groups, const GreedyOptions& options, bool folds,
                       const Context& context) {
  if (options.route != PathRoute::automatic) return options.route;
  // A stagewise path returns to features; leave-one-domain-out selects different ones in each fold.
  const double share = folds || options.stop == PathStop::lodo ? 1.2 : options.mode == PathMode::stagewise ? 0.4 : 1.0;
  const double distinct = std::ceil(share * std::min<double>(options.steps, static_cast<double>(x.cols())));
  return cheaper_route(x, groups, static_cast<Index>(distinct), GramKind::double_precision, context);
}

RefittedRows greedy_folds(PathRule rule, const TrainView& view, const SelectionView& near, const Refits* refits,
                          const GreedyOptions& options, bool folds, const Context& context) {
  const bool asked = options.stop == PathStop::lodo;
  if (refits == nullptr || !(asked || folds)) return {};
  if (options.ex2 == SquareSource::all) {
    context.note(
        "{}: the stages before it had seen all rows when domains were left out, because ex2=all needs target rows and "
        "stages are fitted again for labelled rows alone",
        rule_name(rule));
    return {};
  }
  if (!refits_stages(rule_name(rule), view, near.view, refits, asked, context)) return {};
  return refitted_rows(rule_name(rule), view, near.view, *refits, greedy_centring(options), context);
}

GreedyRun run_greedy(PathRule rule, MomentColumns& moments, const GreedyOptions& options, bool folds,
                     const RefittedRows& refitted, const Context& context) {
  const PathOptions path = path_options(rule, moments.moments, options);
  const StopOptions stop{
      .stop = options.stop, .delta = options.delta, .size = options.size, .folds = folds, .refitted = refitted};
  GreedyRun run{select_features(moments.moments, *moments.columns, path, stop, context), moments.route, {}};
  const Selection& selection = run.selection;
  if (selection.taken == 0 && selection.path.steps() > 0) run.first = selection.path.indices.front();
  warn_of(rule, run, options, moments.moments, context);
  return run;
}

std::string greedy_summary(const GreedyRun& run, const GreedyOptions& options) {
  const PathResult kept = run.selection.path.head(run.selection.taken);
  return fmt::format("{} of {} steps, {} distinct features{}", kept.steps(), options.steps, kept.support.size(),
                     kept.stopped_early ? "; no further feature could be chosen" : "");
}

namespace {

GreedyRun run_on(PathRule rule, const TrainView& view, const SelectionView& near, const Refits* refits,
                 const GreedyOptions& options, const Context& context, FitCache* cache) {
  const SelectionData data(rule_name(rule), near.view);
  const PathRoute route = greedy_route(near.view.x, near.view.domain.count(), options, false, context);
  const auto moments = moment_columns(data, route, GramKind::double_precision, cache, context);
  const RefittedRows refitted = greedy_folds(rule, view, near, refits, options, false, context);
  return run_greedy(rule, *moments, options, false, refitted, context);
}

/// Leave-one-domain-out chooses the number of steps on the rows for a choice, where groups are in several domains.
GreedyRun run_apart(PathRule rule, const TrainView& view, const SelectionView& near, const std::vector<Index>& rows,
                    const Refits* refits, GreedyOptions options, const Context& context, FitCache& cache) {
  const TrainView part = view_of_rows(view, rows);
  const SelectionView part_near = selection_view(rule_name(rule), part, greedy_centring(options), context);
  const std::optional<Refits> own = refits_of_rows(refits, part, rows);
  const Index taken = run_on(rule, part, part_near, own ? &*own : nullptr, options, context, nullptr).selection.taken;
  options.stop = PathStop::steps;
  options.steps = static_cast<int>(std::max<Index>(taken, 1));
  GreedyRun run = run_on(rule, view, near, nullptr, options, context, &cache);
  run.selection.taken = std::min(taken, run.selection.path.steps());
  if (run.selection.taken == 0 && run.selection.path.steps() > 0) run.first = run.selection.path.indices.front();
  return run;
}

}  // namespace

StageResult Greedy::fit_rule(PathRule rule, const TrainView& view, const Refits* refits, const GreedyOptions& options,
                             const Context& context, FitCache& cache) {
  const SelectionView near = selection_view(rule_name(rule), view, greedy_centring(options), context);
  const std::vector<Index> rows = options.stop == PathStop::lodo ? rows_for_choice(view) : std::vector<Index>{};
  const GreedyRun run = rows.empty() ? run_on(rule, view, near, refits, options, context, &cache)
                                     : run_apart(rule, view, near, rows, refits, options, context, cache);
  auto fitted = std::make_shared<Greedy>();
  fitted->path_ = run.selection.path.head(run.selection.taken);
  near.move_back(fitted->path_);
  fitted->take(view.y.task, fitted->path_, run.first);
  fitted->route_ = route_name(run.route);
  return pass_on(std::move(fitted), view, context, {true, greedy_summary(run, options)});
}

SumsResult Greedy::fit_rule_on_sums(PathRule rule, const RowSums& sums, const GreedyOptions& options,
                                    const Context& context) {
  const auto moments = moment_columns(rule_name(rule), signed_moments(rule_name(rule), sums), context);
  warn_lost_digits(rule_name(rule), moments->moments, greedy_centring(options), context);
  const GreedyRun run = run_greedy(rule, *moments, options, false, {}, context);
  auto fitted = std::make_shared<Greedy>();
  fitted->path_ = run.selection.path.head(run.selection.taken);
  fitted->take(sums.task, fitted->path_, run.first);
  fitted->route_ = route_name(run.route);
  RowSums next = fitted->passed_on_sums(sums);
  return {std::move(fitted), std::move(next), {true, greedy_summary(run, options)}};
}

namespace {

template <PathRule rule>
FeatureSelection select_rule(const SelectionInput& input, const OptionValues& values, const Context& context) {
  return select_greedy(rule, input, read_options<GreedyOptions>(values), context);
}

template <PathRule rule>
StageResult fit_greedy_with_refits(const TrainView& view, const Refits& refits, const OptionValues& values,
                                   const Context& context, FitCache& cache) {
  return Greedy::fit_rule(rule, view, &refits, read_options<GreedyOptions>(values), context, cache);
}

}  // namespace

Method tgreedy_method() {
  return make_method<GreedyOptions, Greedy::fit<PathRule::tgreedy>, Greedy::load>(
      {.name = "tgreedy",
       .family = Family::select,
       .summary =
           "Selects features whose covariance with the label is consistent across domains, by the largest T statistic.",
       .when = "when a few columns should be kept whose effect is the same in every domain; it needs several domains.",
       .example = "impute | scale | tgreedy steps=10 | logistic",
       .citation = "foster2012",
       .routes = {{Route::streamed}},
       .learns = Learns::two_classes,
       .select = select_rule<PathRule::tgreedy>,
       .fit_with_refits = fit_greedy_with_refits<PathRule::tgreedy>,
       .sums = sums_route<GreedyOptions, Greedy::fit_on_sums<PathRule::tgreedy>>()});
}

Method greedy_method() {
  return make_method<GreedyOptions, Greedy::fit<PathRule::greedy>, Greedy::load>(
      {.name = "greedy",
       .family = Family::select,
       .summary = "Selects the features that lower the squared loss most, averaged over domains.",
       .when = "as the plain counterpart of tgreedy: the best few columns on average, even if domains disagree.",
       .example = "impute | scale | greedy steps=10 | logistic",
       .citation = "foster2012",
       .routes = {{Route::streamed}},
       .learns = Learns::two_classes,
       .select = select_rule<PathRule::greedy>,
       .fit_with_refits = fit_greedy_with_refits<PathRule::greedy>,
       .sums = sums_route<GreedyOptions, Greedy::fit_on_sums<PathRule::greedy>>()});
}

}  // namespace ecotone
