#include "ecotone/evaluate/score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "ecotone/measure/metrics.h"
#include "ecotone/measure/shift.h"

namespace ecotone {

namespace {

/// Row `local` of an outcome.
struct Pick {
  const Outcome* outcome;
  Index local;
};

/// Predictions for some rows, with their true classes.
struct ClassRows {
  std::vector<std::int32_t> truth;
  std::vector<std::int32_t> predicted;
  Matrix probability;
};

ClassRows class_rows(const Labels& y, std::span<const Pick> picks) {
  ClassRows rows;
  rows.probability.resize(static_cast<Index>(picks.size()), static_cast<Index>(y.classes.size()));
  for (std::size_t i = 0; i < picks.size(); ++i) {
    const auto& [outcome, local] = picks[i];
    rows.truth.push_back(y.index[static_cast<std::size_t>(outcome->rows[static_cast<std::size_t>(local)])]);
    rows.predicted.push_back(outcome->predicted[static_cast<std::size_t>(local)]);
    rows.probability.row(static_cast<Index>(i)) = outcome->probability.row(local);
  }
  return rows;
}

/// AUROC ranks rows, and scores of different models cannot be ranked together: it is computed among the rows that one
/// model predicted, then averaged over the models where it is defined, weighted by their rows.
std::optional<double> auroc_by_model(const Labels& y, std::span<const Pick> picks) {
  double total = 0;
  double mean = 0;
  while (!picks.empty()) {
    const auto other = std::ranges::find_if(picks, [&](const Pick& p) { return p.outcome != picks.front().outcome; });
    const auto count = static_cast<std::size_t>(other - picks.begin());
    const ClassRows rows = class_rows(y, picks.first(count));
    picks = picks.subspan(count);
    const std::optional<double> value = auroc(rows.truth, rows.probability);
    if (!value) continue;
    // mean = sum n_f auroc_f / sum n_f, updated one model at a time, so that equal values stay exact
    total += static_cast<double>(count);
    mean += static_cast<double>(count) / total * (*value - mean);
  }
  return total > 0 ? std::optional(mean) : std::nullopt;
}

Metrics class_metrics(const Labels& y, const std::vector<Pick>& picks) {
  const ClassRows rows = class_rows(y, picks);
  return {{"accuracy", accuracy(rows.truth, rows.predicted)},
          {"balanced_accuracy", balanced_accuracy(rows.truth, rows.predicted)},
          {"auroc", auroc_by_model(y, picks)},
          {"log_loss", log_loss(rows.truth, rows.probability)},
          {"brier", brier(rows.truth, rows.probability)},
          {"brier_sum", brier_sum(rows.truth, rows.probability)},
          {"calibration_error", calibration_error(rows.truth, rows.predicted, rows.probability)}};
}

Metrics value_metrics(const Labels& y, const std::vector<Pick>& picks) {
  Vector truth(static_cast<Index>(picks.size()));
  Vector value(truth.size());
  for (Index i = 0; i < truth.size(); ++i) {
    const auto& [outcome, local] = picks[static_cast<std::size_t>(i)];
    truth[i] = y.value[outcome->rows[static_cast<std::size_t>(local)]];
    value[i] = outcome->value[local];
  }
  return {{"rmse", rmse(truth, value)}, {"mae", mae(truth, value)}, {"r2", r2(truth, value)}};
}

Metrics metrics_of(const Labels& y, const std::vector<Pick>& picks) {
  Metrics metrics = y.task == Task::classify ? class_metrics(y, picks) : value_metrics(y, picks);
  for (auto& [name, value] : metrics)
    if (value && !std::isfinite(*value)) value.reset();  // an overflow in a prediction
  return metrics;
}

/// Mean over repetitions, metric by metric.
Metrics average(const std::vector<Metrics>& repetitions, const std::vector<std::string>& names) {
  Metrics result;
  for (const auto& name : names) {
    std::vector<double> values;
    for (const auto& metrics : repetitions)
      if (const auto value = value_of(metrics, name)) values.push_back(*value);
    result.emplace_back(name, mean_of(values));
  }
  return result;
}

/// Mean and spread over domains and, unless `reference` is the score itself, the paired differences from it.
void summarise(PipelineScore& score, const PipelineScore& reference, const std::vector<std::string>& metrics) {
  for (const auto& name : metrics) {
    std::vector<double> values;
    std::vector<double> differences;
    for (std::size_t d = 0; d < score.domains.size(); ++d) {
      const auto value = value_of(score.domains[d].metrics, name);
      const auto other = value_of(reference.domains[d].metrics, name);
      if (value) values.push_back(*value);
      if (value && other) differences.push_back(*value - *other);
    }
    score.mean.emplace_back(name, mean_of(values));
    score.spread.emplace_back(name, sample_sd(values));
    if (&score == &reference) continue;
    const auto interval = t_interval(differences);
    score.difference.emplace_back(
        name, interval ? std::optional(Difference{*interval, t_test(differences), {}}) : std::nullopt);
  }
}

/// Adjusts the p-values of one metric for the number of pipelines compared with the reference.
void adjust_p_values(std::vector<PipelineScore>& scores, std::size_t metric) {
  std::vector<Difference*> compared;
  std::vector<double> p;
  for (PipelineScore& score : scores) {
    if (score.difference.empty() || !score.difference[metric].second || !score.difference[metric].second->p) continue;
    compared.push_back(&*score.difference[metric].second);
    p.push_back(*compared.back()->p);
  }
  const std::vector<double> adjusted = holm(p);
  for (std::size_t i = 0; i < compared.size(); ++i) compared[i]->p_adjusted = adjusted[i];
}

}  // namespace

Outcome outcome_of(Prediction prediction, const std::vector<std::string>& model_classes, const Labels& y,
                   const Split& split) {
  Outcome outcome;
  outcome.repetition = split.repetition;
  outcome.rows = split.held_out;
  outcome.value = std::move(prediction.value);
  if (y.task == Task::regress) return outcome;
  std::map<std::string_view, std::int32_t> place;
  for (std::size_t k = 0; k < y.classes.size(); ++k) place[y.classes[k]] = static_cast<std::int32_t>(k);
  std::vector<std::int32_t> class_of;
  outcome.seen.assign(y.classes.size(), false);
  outcome.probability.setZero(static_cast<Index>(split.held_out.size()), static_cast<Index>(y.classes.size()));
  for (std::size_t k = 0; k < model_classes.size(); ++k) {
    class_of.push_back(place.at(model_classes[k]));
    outcome.seen[static_cast<std::size_t>(class_of[k])] = true;
    outcome.probability.col(class_of[k]) = prediction.probability.col(static_cast<Index>(k));
  }
  for (const auto k : prediction.index) outcome.predicted.push_back(class_of[static_cast<std::size_t>(k)]);
  return outcome;
}

std::vector<DomainScore> score_domains(const Dataset& data, const std::vector<bool>& held_out,
                                       const std::vector<Outcome>& outcomes, const Context& context) {
  const Labels& y = *data.y;
  const auto domain_of = [&](Index row) {
    return static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(row)]);
  };
  std::vector<std::vector<std::vector<Pick>>> picks(outcomes.size());  // by outcome and domain
  context.parallel(static_cast<Index>(outcomes.size()), [&](Index o) {
    const Outcome& outcome = outcomes[static_cast<std::size_t>(o)];
    auto& own = picks[static_cast<std::size_t>(o)];
    own.resize(held_out.size());
    for (std::size_t i = 0; i < outcome.rows.size(); ++i)
      if (!y.missing(outcome.rows[i])) own[domain_of(outcome.rows[i])].push_back({&outcome, static_cast<Index>(i)});
  });
  const auto names = metric_names(y.task);
  std::vector<DomainScore> scores(held_out.size());
  context.parallel(static_cast<Index>(held_out.size()), [&](Index domain) {
    const auto d = static_cast<std::size_t>(domain);
    if (!held_out[d]) return;
    std::map<Index, std::vector<Pick>> by_repetition;
    for (std::size_t o = 0; o < outcomes.size(); ++o) {
      if (picks[o][d].empty()) continue;
      std::vector<Pick>& rows = by_repetition[outcomes[o].repetition];
      rows.insert(rows.end(), picks[o][d].begin(), picks[o][d].end());
    }
    scores[d].domain = data.domain.names[d];
    std::vector<Metrics> repetitions;
    for (const auto& [repetition, rows] : by_repetition) {
      scores[d].rows = static_cast<Index>(rows.size());
      repetitions.push_back(metrics_of(y, rows));
    }
    scores[d].metrics = average(repetitions, names);
  });
  std::vector<DomainScore> result;
  for (std::size_t d = 0; d < held_out.size(); ++d)
    if (held_out[d]) result.push_back(std::move(scores[d]));
  return result;
}

void compare_pipelines(Evaluation& evaluation) {
  std::vector<PipelineScore>& scores = evaluation.pipelines;
  const auto first = std::ranges::find_if(scores, [](const PipelineScore& score) { return !score.error; });
  evaluation.reference = first == scores.end() ? 0 : static_cast<std::size_t>(first - scores.begin());
  for (PipelineScore& score : scores) summarise(score, scores[evaluation.reference], evaluation.metrics);
  for (std::size_t m = 0; m < evaluation.metrics.size(); ++m) adjust_p_values(scores, m);
}

}  // namespace ecotone
