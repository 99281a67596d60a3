#include "ecotone/evaluate/score.h"

#include <cmath>
#include <map>

#include "ecotone/measure/metrics.h"

namespace ecotone {

namespace {

/// Row `local` of an outcome.
struct Pick {
  const Outcome* outcome;
  Index local;
};

Metrics class_metrics(const Labels& y, const std::vector<Pick>& picks) {
  const auto n = picks.size();
  std::vector<std::int32_t> truth(n);
  std::vector<std::int32_t> predicted(n);
  Matrix probability(static_cast<Index>(n), static_cast<Index>(y.classes.size()));
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [outcome, local] = picks[i];
    truth[i] = y.index[static_cast<std::size_t>(outcome->rows[static_cast<std::size_t>(local)])];
    predicted[i] = outcome->predicted[static_cast<std::size_t>(local)];
    probability.row(static_cast<Index>(i)) = outcome->probability.row(local);
  }
  return {{"accuracy", accuracy(truth, predicted)},
          {"balanced_accuracy", balanced_accuracy(truth, predicted)},
          {"auroc", auroc(truth, probability)},
          {"log_loss", log_loss(truth, probability)},
          {"brier", brier(truth, probability)},
          {"calibration_error", calibration_error(truth, predicted, probability)}};
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

std::optional<double> value_of(const Metrics& metrics, const std::string& name) {
  for (const auto& [key, value] : metrics)
    if (key == name) return value;
  return {};
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

}  // namespace

std::vector<DomainScore> score_domains(const Dataset& data, const std::vector<bool>& held_out,
                                       const std::vector<Outcome>& outcomes) {
  const Labels& y = *data.y;
  std::vector<std::map<Index, std::vector<Pick>>> picks(held_out.size());  // by domain and repetition
  for (const auto& outcome : outcomes)
    for (std::size_t i = 0; i < outcome.rows.size(); ++i)
      if (!y.missing(outcome.rows[i]))
        picks[static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(outcome.rows[i])])]
             [outcome.repetition]
                 .push_back({&outcome, static_cast<Index>(i)});
  const auto names = metric_names(y.task);
  std::vector<DomainScore> scores;
  for (std::size_t d = 0; d < held_out.size(); ++d) {
    if (!held_out[d]) continue;
    DomainScore score{data.domain.names[d], 0, {}};
    std::vector<Metrics> repetitions;
    for (const auto& [repetition, rows] : picks[d]) {
      score.rows = static_cast<Index>(rows.size());
      repetitions.push_back(metrics_of(y, rows));
    }
    score.metrics = average(repetitions, names);
    scores.push_back(std::move(score));
  }
  return scores;
}

void summarise(PipelineScore& score, const PipelineScore& first, const std::vector<std::string>& metrics) {
  for (const auto& name : metrics) {
    std::vector<double> values;
    std::vector<double> differences;
    for (std::size_t d = 0; d < score.domains.size(); ++d) {
      const auto value = value_of(score.domains[d].metrics, name);
      const auto reference = value_of(first.domains[d].metrics, name);
      if (value) values.push_back(*value);
      if (value && reference) differences.push_back(*value - *reference);
    }
    score.mean.emplace_back(name, mean_of(values));
    score.spread.emplace_back(name, sample_sd(values));
    if (&score != &first) score.difference.emplace_back(name, t_interval(differences));
  }
}

}  // namespace ecotone
