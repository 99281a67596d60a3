#include "ecotone/choose/choose.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/choose/veto.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/ranks.h"

namespace ecotone {

namespace {

/// Checks that the task has the metric.
const MetricInfo& metric_of(const std::string& name, Task task) {
  return require_metric(name.empty() ? (task == Task::classify ? "accuracy" : "rmse") : name, choice_metrics(task));
}

/// The loss that the metric averages, or the closest one to it.
RowLoss loss_of(const MetricInfo& metric) {
  if (metric.name == "log_loss") return RowLoss::log_loss;
  if (metric.name.starts_with("brier")) return RowLoss::brier;
  return RowLoss::automatic;
}

/// How much better `a` is than `b`.
double better_by(double a, double b, const MetricInfo& metric) { return metric.higher_is_better() ? a - b : b - a; }

std::vector<TargetTruth> true_scores(const Dataset& data, const std::vector<Pipeline>& candidates,
                                     const EvaluateOptions& adapt, const MetricInfo& metric, const Context& context) {
  const Evaluation evaluation = evaluate(data, candidates, adapt, context);
  if (evaluation.pipelines.front().error) throw Error(*evaluation.pipelines.front().error);
  for (const PipelineScore& score : evaluation.pipelines)
    if (score.error) context.warn("candidate_failed", "choose: a candidate has no scores: {}", score.error->what());
  std::vector<TargetTruth> targets;
  for (std::size_t d = 0; d < evaluation.pipelines.front().domains.size(); ++d) {
    const DomainScore& domain = evaluation.pipelines.front().domains[d];
    TargetTruth truth{domain.domain, domain.rows, {}, {}};
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const PipelineScore& own = evaluation.pipelines[c];
      truth.score.push_back(own.error ? std::nullopt : value_of(own.domains[d].metrics, metric.name));
      if (!truth.score[c]) continue;
      if (!truth.best || better_by(*truth.score[c], *truth.score[*truth.best], metric) > 0) truth.best = c;
    }
    targets.push_back(std::move(truth));
  }
  return targets;
}

/// The true cost of a choice for a target, by its labels.
TargetChoice judged(const Scores& scores, std::size_t chosen, const TargetTruth& truth, const MetricInfo& metric) {
  TargetChoice result;
  result.domain = truth.domain;
  result.used = scores.used;
  result.chosen = chosen;
  result.estimates = scores.candidates;
  result.overlap = scores.overlap;
  result.score = truth.score[chosen];
  if (result.score) {
    result.regret = better_by(*truth.score[*truth.best], *result.score, metric);
    if (truth.score[0]) result.gain = better_by(*result.score, *truth.score[0], metric);
  }
  std::vector<double> estimated;
  std::vector<double> real;
  for (std::size_t c = 0; c < scores.candidates.size(); ++c) {
    if (!scores.candidates[c].estimate || !truth.score[c]) continue;
    estimated.push_back(-*scores.candidates[c].estimate);
    real.push_back(better_by(*truth.score[c], 0, metric));
  }
  result.rank_correlation = spearman(estimated, real);
  return result;
}

/// Mean of one field over targets that have it.
template <class Field>
std::optional<double> mean_over(const std::vector<TargetChoice>& targets, Field field) {
  std::vector<double> values;
  for (const TargetChoice& target : targets)
    if (const std::optional<double>& value = target.*field) values.push_back(*value);
  return mean_of(values);
}

ScorerSummary summary(const std::vector<TargetChoice>& targets) {
  return {mean_over(targets, &TargetChoice::score), mean_over(targets, &TargetChoice::regret),
          mean_over(targets, &TargetChoice::gain), mean_over(targets, &TargetChoice::rank_correlation)};
}

/// The summary of a rule that ignores estimates.
template <class Rule>
ScorerSummary fixed_rule(const std::vector<TargetTruth>& truth, const MetricInfo& metric, Rule rule) {
  std::vector<TargetChoice> targets;
  for (const TargetTruth& each : truth)
    if (each.best) targets.push_back(judged({}, rule(each), each, metric));
  return summary(targets);
}

void fail(ScorerChoice& choice, const Error& error, const std::string& target) {
  choice.error_code = error.code();
  choice.error = fmt::format("with {} as the target: {}", target, error.what());
  choice.targets.clear();
}

}  // namespace

Choice choose_candidates(const Dataset& data, const std::vector<Pipeline>& candidates, const ChooseOptions& options,
                         const Context& context) {
  if (!data.y) data_error("no_labels", "choose: the data have no label column; name it with --label");
  const MetricInfo& metric = metric_of(options.metric, data.y->task);
  Choice result;
  result.metric = metric.name;
  result.task = data.y->task;
  for (const Pipeline& candidate : candidates) result.candidates.push_back(candidate.text());
  EvaluateOptions adapt;
  adapt.next_domain = NextDomainBy::none;
  adapt.protocol = Protocol::adapt;
  adapt.target = options.target;
  adapt.resamples = 0;
  result.targets = true_scores(data, candidates, adapt, metric, context);
  for (const Scorer scorer : options.scorers) result.scorers.emplace_back().scorer = scorer;

  const std::vector<Split> splits = make_splits(places_of(data), adapt, context.observed_by(nullptr));
  for (std::size_t s = 0; s < splits.size(); ++s) {
    // The scorers see only this view, whose type cannot hold the target's labels.
    const TrainView view = train_view(data, splits[s].source, splits[s].target, context);
    CandidateScorer scorer(view, data.schema, candidates, {.loss = loss_of(metric), .folds = options.folds},
                           context.derived("choose", s));
    for (ScorerChoice& choice : result.scorers) {
      if (!choice.error_code.empty()) continue;
      try {
        const Scores scores = scorer.scores(choice.scorer);
        choice.targets.push_back(judged(scores, choose(scores), result.targets[s], metric));
        if (choice.scorer == Scorer::automatic) choice.targets.back().decided_by = decide(scores).by;
      } catch (const Error& error) {
        if (options.scorers.size() == 1 || (error.kind() != ErrorKind::data && error.kind() != ErrorKind::option))
          throw;
        fail(choice, error, splits[s].name);
      }
    }
  }
  for (ScorerChoice& choice : result.scorers) choice.mean = summary(choice.targets);
  result.best = fixed_rule(result.targets, metric, [](const TargetTruth& truth) { return *truth.best; });
  result.reference = fixed_rule(result.targets, metric, [](const TargetTruth&) { return std::size_t{0}; });
  return result;
}

}  // namespace ecotone
