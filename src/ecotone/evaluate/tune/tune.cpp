#include "ecotone/evaluate/tune/tune.h"

#include <algorithm>
#include <set>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/evaluate/adapting.h"
#include "ecotone/evaluate/fits_at_once.h"
#include "ecotone/evaluate/metric_of_choice.h"
#include "ecotone/evaluate/tune/tune_choice.h"
#include "ecotone/evaluate/tune/tune_fits.h"
#include "ecotone/evaluate/tune/tune_folds.h"
#include "ecotone/evaluate/unseen.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/grid.h"

namespace ecotone {

namespace {

void note_pseudo_targets(const TuneFolds& folds, const Context& context) {
  context.note("tune: for pipelines that adapt to a target, the held-out domain serves as the target{}",
               folds.plain.front().target.empty() ? "" : "; rows of the real target are left out");
}

/// Whether any point has a value of the metric on any fold.
bool any_value(const PointScores& scores, const std::string& metric) {
  const auto has_value = [&](const FoldScore& fold) { return value_of(fold.metrics, metric).has_value(); };
  return std::ranges::any_of(scores.points, [&](const auto& folds) { return std::ranges::any_of(folds, has_value); });
}

Tuning choice_of(const std::vector<Pipeline>& points, const PointScores& scores, const TuneFolds& folds,
                 const TuneOptions& options, const Labels& y, const Context& context) {
  Tuning tuning;
  tuning.search = options.search;
  tuning.metric = metric_of_choice(options.metric, points, y);
  if (options.metric.empty() && tuning.metric == "auroc" && !any_value(scores, tuning.metric)) {
    tuning.metric = "accuracy";
    context.note("tune: every fold has one class, for which auroc is undefined, so accuracy chooses");
  }
  tuning.by_domain = folds.by_domain;
  for (const Split& fold : folds.plain) tuning.folds.push_back(fold.name);
  for (std::size_t p = 0; p < points.size(); ++p)
    tuning.points.push_back(summary_of(points[p], scores.points[p], tuning.metric));
  choose_point(tuning, points, scores.constant);
  warn_of_bounds(tuning, context);
  if (options.search == Search::grid) warn_at_edges(points, tuning.chosen, context);
  return tuning;
}

}  // namespace

std::string_view search_name(Search search) { return search_names.choices[static_cast<std::size_t>(search)]; }

void check_choice_metric(const std::string& name, Task task) {
  if (!name.empty()) require_metric(name, choice_metrics(task));
}

std::vector<Pipeline> search_points(const std::vector<std::string>& texts, const TuneOptions& options,
                                    const Context& context) {
  std::vector<Pipeline> points;
  std::set<std::string> seen;
  const auto add = [&](Pipeline pipeline) {
    if (!pipeline.predicts())
      option_error("no_learner", "tune: \"{}\" does not end in a learner, so there is nothing to score",
                   pipeline.text());
    if (seen.insert(pipeline.text()).second) points.push_back(std::move(pipeline));
    if (points.size() > largest_grid)
      option_error("grid_too_large", "the grids have more than {} pipelines in total", largest_grid);
  };
  for (std::size_t t = 0; t < texts.size(); ++t) {
    const PipelineSpace space(texts[t]);
    if (options.search == Search::grid || space.is_single()) {
      const std::size_t size = space.size();
      for (std::size_t i = 0; i < size; ++i) add(space.at(i));
      continue;
    }
    Random random = context.random("tune-draws", t);
    for (int i = 0; i < options.draws; ++i) add(space.draw(random));
  }
  return points;
}

Tuning tune(const Dataset& data, const std::vector<Pipeline>& points, const TuneOptions& options,
            const Context& context) {
  if (points.empty()) option_error("no_pipeline", "tune: no pipeline given");
  const auto adapting = static_cast<std::size_t>(std::ranges::count_if(points, adapts));
  const TuneFolds folds = tune_folds(data, rows_by_role(data), adapting > 0, context);
  check_choice_metric(options.metric, data.y->task);
  note_metric("tune", "--metric", options.metric, points, *data.y, context);
  if (adapting > 0 && folds.by_domain) note_pseudo_targets(folds, context);
  warn_unseen_categories(data, adapting == points.size() ? folds.adapting : folds.plain, context);
  const auto scores = fit_points(data, points, folds, fits_at_once(data.x), options.journal, context);
  return choice_of(points, scores, folds, options, *data.y, context);
}

Tuning tune_in_split(const Dataset& data, const std::vector<Pipeline>& points, const Split& split,
                     const TuneOptions& options, const Context& context) {
  const bool adapting = std::ranges::any_of(points, adapts);
  const TuneFolds folds = tune_folds(data, rows_of_split(data, split), adapting, context);
  if (adapting && folds.by_domain) note_pseudo_targets(folds, context);
  // Splits of large data already run as many at once as fit in memory.
  const int at_most = fits_at_once(data.x) == 0 ? 0 : 1;
  const auto scores = fit_points(data, points, folds, at_most, options.journal, context.observed_by(nullptr));
  return choice_of(points, scores, folds, options, *data.y, context);
}

}  // namespace ecotone
