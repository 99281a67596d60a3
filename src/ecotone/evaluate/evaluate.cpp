#include "ecotone/evaluate/evaluate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/groups.h"
#include "ecotone/data/row_weight.h"
#include "ecotone/evaluate/contenders.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/metric_of_choice.h"
#include "ecotone/evaluate/next_domain.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/evaluate/split_fits.h"
#include "ecotone/evaluate/threshold.h"
#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/evaluate/unseen.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/grid.h"

namespace ecotone {

namespace {

struct Name {
  std::string operator()(const PipelineGrid& grid) const { return grid.text; }
  std::string operator()(const Outsider& outsider) const { return outsider.name; }
};

std::vector<PipelineGrid> grids_of(const std::vector<Contender>& contenders) {
  std::vector<PipelineGrid> grids;
  for (const Contender& contender : contenders)
    if (const auto* grid = std::get_if<PipelineGrid>(&contender)) grids.push_back(*grid);
  return grids;
}

void check_input(const Dataset& data, const std::vector<Contender>& contenders, const EvaluateOptions& options,
                 const Context& context) {
  if (contenders.empty()) option_error("no_pipeline", "evaluate: no pipeline given");
  for (const PipelineGrid& grid : grids_of(contenders))
    if (grid.points.empty() || !std::ranges::all_of(grid.points, &Pipeline::predicts))
      option_error("no_learner", "evaluate: \"{}\" does not end in a learner, so there is nothing to score", grid.text);
  if (data.rows() == 0) data_error("empty_data", "evaluate: the data have no rows");
  if (!data.y) data_error("no_labels", "evaluate: the data have no label column; name it with --label");
  for (Index row = 0; row < data.weight.size(); ++row)
    require_weight(data.weight[row], data.schema.weight, origin_of(data.origin, row));
  if (!options.threshold.empty()) {
    ThresholdRule::parse(options.threshold);
    require_two_classes_for_threshold(*data.y);
  }
  Index missing = 0;
  for (Index row = 0; row < data.rows(); ++row) missing += data.y->missing(row);
  if (missing == data.rows()) data_error("no_labels", "evaluate: none of the {} rows has a label", missing);
  if (missing > 0)
    context.note("evaluate: {} of {} rows {} no label and {} {}", missing, data.rows(), missing == 1 ? "has" : "have",
                 missing == 1 ? "is" : "are",
                 options.protocol == Protocol::adapt ? "not scored" : "neither trained on nor scored");
  std::vector<std::string> targets;
  for (std::size_t d = 0; d < std::min(data.role.size(), data.domain.names.size()); ++d)
    if (data.role[d] != Role::source) targets.push_back(data.domain.names[d]);
  if (!targets.empty())
    context.note("evaluate: {} {} not marked as source in the data, which is ignored; {} chooses what is held out",
                 fmt::join(targets, ", "), targets.size() == 1 ? "is" : "are", protocol_name(options.protocol));
}

/// Whether some pipeline predicts sets.
bool make_sets(const std::vector<Contender>& contenders) {
  return std::ranges::any_of(grids_of(contenders), [](const PipelineGrid& grid) {
    return std::ranges::any_of(grid.points, &Pipeline::makes_sets);
  });
}

/// The level that the sets of a pipeline are to cover.
std::optional<double> set_level_of(const Contender& contender) {
  const auto* grid = std::get_if<PipelineGrid>(&contender);
  if (grid == nullptr || !grid->points.front().makes_sets()) return std::nullopt;
  return grid->points.front().stages().back().options.at("level").get<double>();
}

/// Warns about pipelines that rank rows of held-out domains below chance; k-fold holds no domain out.
void warn_of_ranks(const Evaluation& result, const Context& context) {
  if (result.protocol == Protocol::k_fold) return;
  std::vector<std::unique_ptr<Messages>> messages;
  for (const PipelineScore& score : result.pipelines) {
    messages.push_back(std::make_unique<Messages>());
    for (const auto& [name, value] : score.mean)
      if (name == "auroc")
        warn_below_chance("evaluate", fmt::format("\"{}\"", score.pipeline), value,
                          context.observed_by(messages.back().get()));
  }
  pass_on(messages, context, "pipelines");
}

/// Predictions in order of pipeline, repetition and row.
std::vector<HeldOutPrediction> predictions_of(const std::vector<std::vector<Outcome>>& outcomes, const Labels& y) {
  std::vector<HeldOutPrediction> result;
  for (std::size_t p = 0; p < outcomes.size(); ++p) {
    std::map<std::pair<Index, Index>, std::pair<const Outcome*, std::size_t>> order;
    for (const auto& outcome : outcomes[p])
      for (std::size_t i = 0; i < outcome.rows.size(); ++i)
        order[{outcome.repetition, outcome.rows[i]}] = {&outcome, i};
    for (const auto& [key, place] : order) {
      const auto& [outcome, i] = place;
      HeldOutPrediction one{static_cast<Index>(p), key.first, key.second, {}, {}};
      if (y.task == Task::regress) {
        one.prediction = fmt::format("{}", outcome->value[static_cast<Index>(i)]);
      } else {
        one.prediction = y.classes[static_cast<std::size_t>(outcome->predicted[i])];
        for (std::size_t k = 0; k < y.classes.size(); ++k)
          one.probability.push_back(
              outcome->seen[k] ? std::optional(outcome->probability(static_cast<Index>(i), static_cast<Index>(k)))
                               : std::nullopt);
      }
      result.push_back(std::move(one));
    }
  }
  return result;
}

/// Refuses predictions that do not fit into memory before anything is fitted.
void require_memory_of_predictions(const Labels& y, const std::vector<Split>& splits, std::size_t pipelines,
                                   const EvaluateOptions& options) {
  constexpr double bytes_per_fit = 512;
  const double classes = static_cast<double>(y.classes.size());
  double bytes_per_row = sizeof(Index) + sizeof(std::int32_t) + sizeof(double) * (classes + 1);
  if (options.keep_predictions) bytes_per_row += sizeof(HeldOutPrediction) + 100 + 2 * sizeof(double) * classes;
  if (options.curves) bytes_per_row += 4 * sizeof(double);
  std::size_t rows = 0;
  for (const Split& split : splits) rows += split.held_out.size();
  const double fits = static_cast<double>(splits.size());
  const double bytes =
      (bytes_per_row * static_cast<double>(rows) + bytes_per_fit * fits) * static_cast<double>(pipelines);
  const bool repeated = options.protocol == Protocol::domain_split;
  require_memory(
      static_cast<std::size_t>(bytes), "evaluate",
      fmt::format("{} prediction{} of held-out rows by {} pipeline{}{}", rows, rows == 1 ? "" : "s", pipelines,
                  pipelines == 1 ? "" : "s", repeated ? fmt::format(" in {} repetitions", options.repetitions) : ""),
      repeated ? "use fewer repetitions" : "use fewer rows or pipelines");
}

/// What each split's model uses.
std::vector<std::vector<double>> take_importances(std::vector<SplitFit>& fits) {
  std::vector<std::vector<double>> importances;
  for (SplitFit& fit : fits) importances.push_back(std::move(fit.importance));
  return importances;
}

/// The outcomes of a pipeline that could be fitted on all splits; otherwise none, and the first split's error.
std::vector<Outcome> take_outcomes(std::vector<SplitFit> fits, const std::vector<Split>& splits, bool threshold,
                                   PipelineScore& score) {
  std::vector<Outcome> outcomes;
  for (std::size_t s = 0; s < fits.size(); ++s) {
    SplitFit& fit = fits[s];
    if (fit.error && !score.error) score.error = fit.error;
    if (fit.choice) score.chosen.push_back(std::move(*fit.choice));
    if (score.promise.empty()) score.promise = fit.promise;
    if (threshold && !fit.outcome.rows.empty()) score.thresholds.push_back({splits[s].name, fit.outcome.threshold});
    outcomes.push_back(std::move(fit.outcome));
  }
  if (!score.error) return outcomes;
  score.chosen.clear();
  score.thresholds.clear();
  return {};
}

/// Each note once.
void note_choice_metrics(const std::vector<PipelineGrid>& grids, const std::string& asked, const Labels& y,
                         const Context& context) {
  Messages messages;
  for (const PipelineGrid& grid : grids)
    if (grid.points.size() > 1)
      note_metric("evaluate", "--choice-metric", asked, grid.points, y, context.observed_by(&messages));
  std::set<std::string> seen;
  for (const auto& [code, text] : messages.items())
    if (seen.insert(text).second) context.note("{}", text);
}

void set_choice_metrics(Evaluation& result, const std::vector<Contender>& contenders, const std::string& asked,
                        const Labels& y) {
  std::set<std::string> metrics;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const auto* grid = std::get_if<PipelineGrid>(&contenders[i]);
    if (!grid || grid->points.size() < 2) continue;
    result.pipelines[i].choice_metric = metric_of_choice(asked, grid->points, y);
    metrics.insert(result.pipelines[i].choice_metric);
  }
  if (metrics.size() == 1) result.choice_metric = *metrics.begin();
}

/// The answers of an outsider in the form of fits.
std::vector<SplitFit> fits_of(const Outsider& outsider, std::size_t splits) {
  if (!outsider.error && outsider.answers.size() != splits)
    internal_error("{} answers to {} splits", outsider.answers.size(), splits);
  std::vector<SplitFit> fits(splits);
  for (std::size_t s = 0; s < splits; ++s)
    if (outsider.error)
      fits[s].error = outsider.error;
    else
      fits[s].outcome = outsider.answers[s];
  return fits;
}

/// By contender, then split.
std::vector<std::vector<SplitFit>> fit_contenders(const Dataset& data, const std::vector<Contender>& contenders,
                                                  const std::vector<Split>& splits, const EvaluateOptions& options,
                                                  const Context& context) {
  auto of_grids = fit_splits(data, grids_of(contenders), splits, options, context);
  auto next = of_grids.begin();
  std::vector<std::vector<SplitFit>> fits;
  for (const Contender& contender : contenders) {
    const auto* outsider = std::get_if<Outsider>(&contender);
    fits.push_back(outsider ? fits_of(*outsider, splits.size()) : std::move(*next++));
  }
  return fits;
}

/// The domains of the splits.
std::vector<bool> held_out_domains(const Domains& domains, const std::vector<Split>& splits) {
  std::vector<bool> held_out(domains.names.size(), false);
  for (const auto& split : splits)
    for (const Index row : split.held_out)
      held_out[static_cast<std::size_t>(domains.index[static_cast<std::size_t>(row)])] = true;
  return held_out;
}

/// The data with the splits in place of domains; rows that no split holds out are in the first and not asked for.
Dataset blocks_as_domains(Dataset data, const std::vector<Split>& splits) {
  Domains blocks;
  blocks.index.assign(static_cast<std::size_t>(data.rows()), 0);
  for (const Split& split : splits) {
    for (const Index row : split.held_out)
      blocks.index[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(blocks.names.size());
    blocks.names.push_back(split.name);
  }
  data.domain = std::move(blocks);
  return data;
}

ForwardBlocks forward_blocks(const Dataset& data, const std::vector<Split>& splits, const EvaluateOptions& options) {
  ForwardBlocks forward{data.schema.time, options.gap, options.window, {}};
  for (const Split& split : splits) {
    const Vector time = data.time(split.held_out);
    forward.blocks.push_back({split.name, time.minCoeff(), time.maxCoeff(), std::ssize(split.source)});
  }
  return forward;
}

/// What is known about a protocol beside the scores.
void describe_splits(Evaluation& result, const Dataset& data, const std::vector<Split>& splits,
                     const EvaluateOptions& options) {
  result.protocol = options.protocol;
  if (options.protocol == Protocol::forward) result.forward = forward_blocks(data, splits, options);
  if (!data.group.empty()) result.groups = {data.schema.group, group_count(data.group)};
}

/// Gives pipelines that could not be fitted the domains of the others, without values.
void fill_failed(Evaluation& evaluation) {
  const auto fitted = std::ranges::find_if(evaluation.pipelines, [](const auto& score) { return !score.error; });
  if (fitted == evaluation.pipelines.end()) throw Error(*evaluation.pipelines.front().error);
  for (PipelineScore& score : evaluation.pipelines) {
    if (!score.error) continue;
    score.domains = fitted->domains;
    for (DomainScore& domain : score.domains) {
      for (auto& [name, value] : domain.metrics) value.reset();
      for (auto& [name, interval] : domain.intervals) interval.reset();
    }
  }
}

}  // namespace

std::optional<double> value_of(const Metrics& metrics, std::string_view name) {
  for (const auto& [key, value] : metrics)
    if (key == name) return value;
  return {};
}

std::size_t Evaluation::failures() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pipelines, [](const auto& score) { return score.error.has_value(); }));
}

std::optional<std::size_t> best_pipeline(const Evaluation& evaluation) {
  const auto best_by = [&](const std::string& name) {
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
      const auto mean = value_of(evaluation.pipelines[p].mean, name);
      if (!mean || !std::isfinite(*mean)) continue;
      const double badness = find_metric(name)->badness(*mean);
      if (!best || badness < least) {
        best = p;
        least = badness;
      }
    }
    return best;
  };
  return best_by(
      headline_metric(evaluation.metrics, [&](const std::string& name) { return best_by(name).has_value(); }));
}

PipelineGrid PipelineGrid::parse(std::string_view text) {
  PipelineGrid grid{std::string(text), {}};
  std::set<std::string> seen;
  for (Pipeline& point : expand_grid(text))
    if (seen.insert(point.text()).second) grid.points.push_back(std::move(point));
  if (grid.points.size() == 1) grid.text = grid.points.front().text();
  return grid;
}

Evaluation evaluate(const Dataset& data, const std::vector<Pipeline>& pipelines, const EvaluateOptions& options,
                    const Context& context) {
  std::vector<PipelineGrid> grids;
  for (const Pipeline& pipeline : pipelines) grids.push_back({pipeline.text(), {pipeline}});
  return evaluate_grids(data, grids, options, context);
}

Evaluation evaluate_grids(const Dataset& data, const std::vector<PipelineGrid>& grids, const EvaluateOptions& options,
                          const Context& context) {
  return evaluate_contenders(data, {grids.begin(), grids.end()}, options, context);
}

Evaluation evaluate_contenders(const Dataset& data, const std::vector<Contender>& contenders,
                               const EvaluateOptions& options, const Context& context) {
  check_input(data, contenders, options, context);
  check_choice_metric(options.choice_metric, data.y->task);
  const auto splits = make_splits(places_of(data), options, context);
  require_memory_of_predictions(*data.y, splits, contenders.size(), options);
  warn_unseen_categories(data, splits, context);
  note_choice_metrics(grids_of(contenders), options.choice_metric, *data.y, context);
  auto fits = fit_contenders(data, contenders, splits, options, context);

  Evaluation result;
  describe_splits(result, data, splits, options);
  result.task = data.y->task;
  result.threshold = options.threshold;
  const ScoreOptions scoring{{!options.threshold.empty(), make_sets(contenders)}, options.resamples};
  result.metrics = score_metrics(data.y->task, static_cast<Index>(data.y->classes.size()), scoring.asked);
  result.classes = data.y->classes;
  result.pipelines.resize(contenders.size());
  set_choice_metrics(result, contenders, options.choice_metric, *data.y);
  const Dataset scored = options.protocol == Protocol::forward ? blocks_as_domains(data, splits) : data;
  const std::vector<bool> held_out = held_out_domains(scored.domain, splits);
  std::vector<std::vector<Outcome>> outcomes(contenders.size());
  context.parallel(static_cast<Index>(contenders.size()), [&](Index p) {
    const auto i = static_cast<std::size_t>(p);
    result.pipelines[i].pipeline = std::visit(Name{}, contenders[i]);
    result.pipelines[i].set_level = set_level_of(contenders[i]);
    const auto importances = take_importances(fits[i]);
    outcomes[i] = take_outcomes(std::move(fits[i]), splits, scoring.asked.threshold, result.pipelines[i]);
    result.pipelines[i].domains = score_domains(scored, held_out, outcomes[i], scoring, context);
    if (options.importance > 0 && !result.pipelines[i].error)
      result.pipelines[i].importance = importances_of(data, splits, importances);
    if (options.curves && data.y->classes.size() == 2 && !result.pipelines[i].error)
      result.pipelines[i].curves = probability_curves(scored, held_out, outcomes[i]);
  });
  fill_failed(result);
  compare_pipelines(result);
  add_next_domain(result, data, contenders, options, context);
  warn_of_ranks(result, context);
  if (options.keep_predictions) result.predictions = predictions_of(outcomes, *data.y);
  return result;
}

}  // namespace ecotone
