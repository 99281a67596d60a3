#include "ecotone/evaluate/tune.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/base/progress.h"
#include "ecotone/evaluate/adapting.h"
#include "ecotone/evaluate/fits_at_once.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/protocol.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/evaluate/unseen.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/grid.h"
#include "ecotone/methods/model.h"

namespace ecotone {

namespace {

// ---- folds

struct Folds {
  std::vector<Split> splits;
  bool by_domain = true;
};

Folds folds_of_domains(const Dataset& data, const std::vector<Index>& labelled, const std::vector<Index>& target,
                       const std::vector<bool>& has_labels) {
  Folds folds;
  for (std::size_t d = 0; d < has_labels.size(); ++d) {
    if (!has_labels[d]) continue;
    Split& split = folds.splits.emplace_back();
    split.name = data.domain.names[d];
    split.target = target;
    for (const Index row : labelled) {
      const bool held = data.domain.index[static_cast<std::size_t>(row)] == static_cast<std::int32_t>(d);
      (held ? split.held_out : split.source).push_back(row);
    }
  }
  return folds;
}

Folds folds_of_rows(const Dataset& data, const std::vector<Index>& labelled, const std::vector<Index>& target,
                    const Context& context) {
  Folds folds{.splits = {}, .by_domain = false};
  // Labelled row i of the view is the i-th of `labelled`.
  const auto inner = inner_folds(train_view(data, labelled, target, context), context);
  for (std::size_t f = 0; f < inner.size(); ++f) {
    Split& split = folds.splits.emplace_back();
    split.name = fmt::format("fold {}", f + 1);
    split.target = target;
    for (const Index i : inner[f].train) split.source.push_back(labelled[static_cast<std::size_t>(i)]);
    for (const Index i : inner[f].held) split.held_out.push_back(labelled[static_cast<std::size_t>(i)]);
  }
  return folds;
}

Folds make_folds(const Dataset& data, bool adapting, const Context& context) {
  if (data.rows() == 0) data_error("empty_data", "tune: the data have no rows");
  if (!data.y) data_error("no_labels", "tune: the data have no label column; name it with --label");
  std::vector<Index> labelled, target;
  std::vector<bool> has_labels(data.domain.names.size(), false);
  for (Index row = 0; row < data.rows(); ++row) {
    const auto domain = static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(row)]);
    if (data.role[domain] == Role::target) target.push_back(row);
    if (data.role[domain] != Role::source || data.y->missing(row)) continue;
    labelled.push_back(row);
    has_labels[domain] = true;
  }
  if (labelled.empty()) data_error("no_labels", "tune: no row of a source domain has a label");
  const auto domains = std::count(has_labels.begin(), has_labels.end(), true);
  if (domains > 1) return folds_of_domains(data, labelled, target, has_labels);
  Folds folds = folds_of_rows(data, labelled, target, context);
  if (folds.splits.empty()) data_error("no_folds", "tune: one labelled row cannot be split into folds");
  context.warn("folds_of_rows",
               "tune: there is one source domain, so {} folds of its rows are held out; the best pipeline on them need "
               "not be the best in a new domain{}",
               folds.splits.size(), adapting ? ", and the shift to the target is not measured" : "");
  return folds;
}

/// The held-out rows serve as the target, as in the scorer `transfer`.
std::vector<Split> pseudo_targets(std::vector<Split> splits) {
  for (Split& split : splits) split.target = split.held_out;
  return splits;
}

/// The splits for points that do not adapt, and for points that do.
struct SplitsOf {
  std::vector<Split> plain, adapting;
  const std::vector<Split>& of(const Pipeline& point) const { return adapts(point) ? adapting : plain; }
};

SplitsOf splits_of(const Folds& folds) {
  return {folds.splits, folds.by_domain ? pseudo_targets(folds.splits) : folds.splits};
}

// ---- the order of the fits

/// A point's penalties, and its text without them.
struct PathPlace {
  std::string group;
  std::vector<double> penalty;
};

PathPlace place_of(const Pipeline& pipeline) {
  PathPlace place;
  std::vector<Stage> stages = pipeline.stages();
  for (Stage& stage : stages) {
    for (const PenaltyOption& penalty : stage.method->penalties) {
      if (!stage.options.at(penalty.name).is_number()) continue;
      const auto value = stage.options.at(penalty.name).get<double>();
      place.penalty.push_back(penalty.inverse ? -value : value);
      stage.options.set(penalty.name, 1.0);
    }
  }
  place.group = Pipeline(std::move(stages)).text();
  return place;
}

/// Points that differ only in penalties follow each other, largest first; otherwise the given order.
std::vector<std::size_t> fitting_order(const std::vector<Pipeline>& points) {
  std::map<std::string, std::size_t> first;
  std::vector<PathPlace> place;
  for (std::size_t i = 0; i < points.size(); ++i) {
    place.push_back(place_of(points[i]));
    first.emplace(place[i].group, i);
  }
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (place[a].group != place[b].group) return first[place[a].group] < first[place[b].group];
    return place[a].penalty > place[b].penalty;
  });
  return order;
}

// ---- the fits

/// The metrics of one point on one fold, or the reason why there are none.
struct FoldScore {
  Metrics metrics;
  std::string error_code, error;
};

/// The fits of one fold whose points have the same view.
class FoldRunner {
 public:
  FoldRunner(const Dataset& data, const Split& split, const Context& context)
      : data_(data),
        split_(split),
        context_(context),
        view_(train_view(data, split.source, split.target, context)),
        batch_(batch(data, split.held_out)),
        held_(data.domain.names.size(), false) {
    for (const Index row : split.held_out)
      held_[static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(row)])] = true;
  }

  FoldScore run(const Pipeline& point) {
    try {
      const Model model = Model::fit(point, view_, data_.schema, context_, cache_);
      const Outcome outcome = outcome_of(model.predict(batch_, context_), model.classes(), *data_.y, split_);
      return {score_domains(data_, held_, {outcome}, context_).front().metrics, "", ""};
    } catch (const Error& error) {
      const bool of_point = error.kind() == ErrorKind::data || error.kind() == ErrorKind::option;
      if (!of_point || error.code() == "not_enough_memory") throw;
      return {{}, error.code(), fmt::format("with {} held out: {}", split_.name, error.what())};
    }
  }

 private:
  const Dataset& data_;
  const Split& split_;
  Context context_;
  TrainView view_;
  Batch batch_;
  std::vector<bool> held_;
  FitCache cache_{FitCache::Order::in_order};
};

/// Scores by point, then fold.
std::vector<std::vector<FoldScore>> run_points(const Dataset& data, const std::vector<Pipeline>& points,
                                               const SplitsOf& splits, const Context& context) {
  const std::vector<std::size_t> order = fitting_order(points);
  const std::size_t folds = splits.plain.size();
  std::vector<std::vector<FoldScore>> scores(points.size(), std::vector<FoldScore>(folds));
  std::vector<std::unique_ptr<Messages>> messages;
  for (std::size_t s = 0; s < folds; ++s) messages.push_back(std::make_unique<Messages>());
  Progress progress(context.observer(), "tune", static_cast<Index>(points.size() * folds));
  const auto run = [&](Index fold) {
    const auto s = static_cast<std::size_t>(fold);
    const Context own = context.derived("tune", s).observed_by(messages[s].get());
    // One view in memory at a time: first the points that do not adapt.
    for (const bool adapting : {false, true}) {
      std::optional<FoldRunner> runner;
      for (const std::size_t p : order) {
        if (adapts(points[p]) != adapting) continue;
        context.check_cancelled();
        if (!runner) runner.emplace(data, splits.of(points[p])[s], own);
        scores[p][s] = runner->run(points[p]);
        progress.advance();
      }
    }
  };
  context.parallel(static_cast<Index>(folds), run, fits_at_once(data.x));
  pass_on(messages, context, "folds");
  return scores;
}

// ---- the choice

std::string metric_of(const std::string& asked, const Labels& y, const std::vector<std::vector<FoldScore>>& scores) {
  const std::vector<std::string> names = metric_names(y.task);
  if (!asked.empty()) return asked;
  return headline_metric(names, [&](const std::string& name) {
    for (const auto& point : scores)
      for (const FoldScore& fold : point)
        if (value_of(fold.metrics, name)) return true;
    return false;
  });
}

TunePoint point_of(const Pipeline& pipeline, const std::vector<FoldScore>& scores, const std::string& metric) {
  TunePoint point;
  point.pipeline = pipeline.text();
  std::vector<double> values;
  for (const FoldScore& fold : scores) {
    point.folds.push_back(value_of(fold.metrics, metric));
    if (point.folds.back()) values.push_back(*point.folds.back());
    if (point.error.empty()) {
      point.error_code = fold.error_code;
      point.error = fold.error;
    }
  }
  if (!point.error.empty()) return point;
  point.mean = mean_of(values);
  point.spread = sample_sd(values);
  return point;
}

Index values_in(const TunePoint& point) {
  return std::ranges::count_if(point.folds, [](const auto& value) { return value.has_value(); });
}

/// The best mean among the points with a value on the largest number of folds.
std::size_t best_point(const std::vector<TunePoint>& points, const std::string& metric) {
  Index most = 0;
  for (const TunePoint& point : points)
    if (point.mean) most = std::max(most, values_in(point));
  const bool higher = find_metric(metric)->higher_is_better;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].mean || values_in(points[i]) < most) continue;
    if (!best || (higher ? *points[i].mean > *points[*best].mean : *points[i].mean < *points[*best].mean)) best = i;
  }
  if (best) return *best;
  for (const TunePoint& point : points)
    if (!point.error.empty())
      throw Error(ErrorKind::data, point.error_code, fmt::format("\"{}\" {}", point.pipeline, point.error));
  data_error("undefined_metric", "tune: {} is undefined on every fold; choose another with --metric", metric);
}

void compare(TunePoint& point, const TunePoint& chosen) {
  std::vector<double> differences;
  for (std::size_t f = 0; f < point.folds.size(); ++f)
    if (point.mean && point.folds[f] && chosen.folds[f]) differences.push_back(*point.folds[f] - *chosen.folds[f]);
  point.difference = mean_of(differences);
  point.difference_sd = sample_sd(differences);
}

void check_metric(const std::string& name, Task task) {
  const std::vector<std::string> names = metric_names(task);
  if (!name.empty() && std::ranges::find(names, name) == names.end())
    option_error("unknown_metric", "unknown metric '{}'; choose one of {}", name, fmt::join(names, ", "));
}

}  // namespace

std::string_view search_name(Search search) { return search_names.choices[static_cast<std::size_t>(search)]; }

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
  const Folds folds = make_folds(data, adapting > 0, context);
  check_metric(options.metric, data.y->task);
  const SplitsOf splits = splits_of(folds);
  if (adapting > 0 && folds.by_domain)
    context.note("tune: for pipelines that adapt to a target, the held-out domain serves as the target{}",
                 folds.splits.front().target.empty() ? "" : "; rows of the real target are left out");
  warn_unseen_categories(data, adapting == points.size() ? splits.adapting : splits.plain, context);
  const auto scores = run_points(data, points, splits, context);
  Tuning tuning;
  tuning.search = options.search;
  tuning.metric = metric_of(options.metric, *data.y, scores);
  tuning.by_domain = folds.by_domain;
  for (const Split& split : folds.splits) tuning.folds.push_back(split.name);
  for (std::size_t p = 0; p < points.size(); ++p)
    tuning.points.push_back(point_of(points[p], scores[p], tuning.metric));
  tuning.chosen = best_point(tuning.points, tuning.metric);
  const TunePoint chosen = tuning.points[tuning.chosen];
  for (TunePoint& point : tuning.points) compare(point, chosen);
  return tuning;
}

}  // namespace ecotone
