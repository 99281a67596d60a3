#include "ecotone/trust/estimators.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/measure/expected_metrics.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/weights.h"

namespace ecotone {
namespace {

constexpr std::array<EstimatorInfo, 8> infos = {{
    {Estimator::source, "source", "Mean over the source domains, each by a model that has not seen it.", false},
    {Estimator::doc, "doc", "source, moved by how much more or less confident the model is here.", false},
    {Estimator::blend, "blend", "Half of source and half of doc.", false},
    {Estimator::atc, "atc", "Share of rows above the confidence that as many source rows exceed as are right.", false},
    {Estimator::cbpe, "cbpe", "What the model's probabilities expect, calibrated on unseen source domains.", false},
    {Estimator::cbpe_em, "cbpe_em", "The same after a correction of class shares.", false},
    {Estimator::pape, "pape", "What the probabilities expect, calibrated on source rows like these.", true},
    {Estimator::importance, "importance", "Mean over source rows, weighted to be like these.", true},
}};

constexpr double few_effective_rows = 50;  // fewer effective rows, or than 10 a parameter, are flattened
constexpr double tie_width = 1e-12;        // of confidences that count as equal

std::vector<double> confidences(const Matrix& probability) {
  std::vector<double> result;
  for (Index i = 0; i < probability.rows(); ++i) result.push_back(probability.row(i).maxCoeff());
  return result;
}

/// Scores for a threshold of confidence. Clipped probabilities of 1 differ in the last digit with the place of their
/// class, but are ties.
std::vector<double> with_ties(std::vector<double> confidence) {
  for (double& each : confidence) each = std::round(each / tie_width) * tie_width;
  return confidence;
}

void add_expected(Estimates& estimates, Estimator estimator, const Matrix& probability, const TargetRows& target) {
  const ExpectedMetrics all = expected_metrics(probability, target.predicted, target.probability);
  const auto add = [&](const char* metric, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) estimates[{estimator, metric}] = *value;
  };
  add("accuracy", all.accuracy);
  add("balanced_accuracy", all.balanced_accuracy);
  add("auroc", all.auroc);
  add("log_loss", all.log_loss);
  add("brier", all.brier);
  add("brier_sum", all.brier_sum);
}

std::vector<double> correct_rows(const UnseenRows& rows) {
  std::vector<double> correct;
  for (std::size_t i = 0; i < rows.label.size(); ++i) correct.push_back(rows.predicted[i] == rows.label[i] ? 1 : 0);
  return correct;
}

/// Whether every class has a row that counts.
bool all_classes_seen(const UnseenRows& rows, const std::vector<double>& weight) {
  std::vector<bool> seen(at(rows.probability.cols()), false);
  for (std::size_t i = 0; i < rows.label.size(); ++i)
    if (weight[i] > 0) seen[at(rows.label[i])] = true;
  return std::ranges::find(seen, false) == seen.end();
}

/// The calibration under these weights; empty if it cannot be learned or is reversed. That of a class without rows
/// would come from the penalty alone, so there is none.
std::optional<Bcts> calibration_of(const UnseenRows& rows, const std::vector<double>& weight) {
  if (!all_classes_seen(rows, weight)) return std::nullopt;
  try {
    const double ridge = ridge_for(weight, rows.probability.cols());
    Bcts fit = fit_bcts(rows.probability, rows.label, weight, {.ridge = ridge, .who = "expect"});
    if (!fit.reversed()) return fit;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
  }
  return std::nullopt;
}

Vector mean_share(const Matrix& calibrated, const std::vector<double>& weight) {
  const Eigen::Map<const Vector> w(weight.data(), std::ssize(weight));
  return calibrated.transpose() * w / w.sum();
}

/// Weighted means of losses of rows.
void add_weighted_means(Estimates& estimates, const SourceRows& sources, const Vector& weight) {
  const auto mean = [&](const std::vector<double>& loss) {
    return weighted_mean(loss, {weight.data(), static_cast<std::size_t>(weight.size())});
  };
  const auto add = [&](const char* metric, double value) {
    if (std::isfinite(value)) estimates[{Estimator::importance, metric}] = value;
  };
  if (sources.task == Task::regress) {
    const Vector rest = sources.truth - sources.value;
    const Vector squares = rest.cwiseAbs2(), sizes = rest.cwiseAbs();
    add("rmse", std::sqrt(mean({squares.begin(), squares.end()})));
    add("mae", mean({sizes.begin(), sizes.end()}));
    return;
  }
  const UnseenRows& rows = sources.unseen;
  add("accuracy", mean(correct_rows(rows)));
  add("log_loss", mean(sources.log_loss));
  const double brier_sum = mean(sources.brier_sum);
  add("brier_sum", brier_sum);
  add("brier", rows.probability.cols() == 2 ? brier_sum / 2 : brier_sum);
}

}  // namespace

std::span<const EstimatorInfo> estimator_infos() { return infos; }
std::string_view estimator_name(Estimator estimator) { return infos[static_cast<std::size_t>(estimator)].name; }
Estimator default_estimator(std::string_view metric) {
  return metric == "accuracy" ? Estimator::blend : Estimator::source;
}

SourceSummary summarise_sources(const SourceRows& sources) {
  SourceSummary summary;
  for (const auto& [name, first] : sources.metrics.front()) {
    std::vector<double> values;
    for (const Metrics& own : sources.metrics)
      if (const auto value = value_of(own, name)) values.push_back(*value);
    summary.mean.emplace_back(name, mean_of(values));
  }
  for (const Index rows : sources.count)
    summary.mean_inverse_rows += 1 / static_cast<double>(rows) / static_cast<double>(sources.count.size());
  if (sources.task == Task::regress) return summary;
  const std::vector<double> weight = sources.unseen.domain_equal();
  const std::vector<double> confidence = confidences(sources.unseen.probability);
  summary.confidence = weighted_mean(confidence, weight);
  summary.threshold = confidence_threshold(with_ties(confidence), correct_rows(sources.unseen), weight);
  summary.calibration = calibration_of(sources.unseen, weight);
  if (summary.calibration)
    summary.source_share = mean_share(summary.calibration->calibrated(sources.unseen.probability), weight);
  return summary;
}

Estimates estimate(const SourceSummary& sources, const TargetRows& target) {
  Estimates estimates;
  for (const auto& [name, value] : sources.mean)
    if (value) estimates[{Estimator::source, name}] = *value;
  if (target.probability.size() == 0) return estimates;
  const Matrix probability = clipped_probabilities(target.probability);  // as those of the sources
  const std::vector<double> confidence = confidences(probability);
  if (const auto accuracy = value_of(sources.mean, "accuracy")) {
    const double moved = std::clamp(*accuracy - (sources.confidence - *mean_of(confidence)), 0.0, 1.0);
    estimates[{Estimator::doc, "accuracy"}] = moved;
    estimates[{Estimator::blend, "accuracy"}] = (*accuracy + moved) / 2;
  }
  estimates[{Estimator::atc, "accuracy"}] = sources.threshold.accuracy(with_ties(confidence));
  if (!sources.calibration) return estimates;
  const Matrix calibrated = sources.calibration->calibrated(probability);
  add_expected(estimates, Estimator::cbpe, calibrated, target);
  const ClassShares shares = em_shares(calibrated, sources.source_share);
  add_expected(estimates, Estimator::cbpe_em, reweighted(calibrated, shares.weight), target);
  return estimates;
}

WeightedEstimates estimate_weighted(const SourceRows& sources, const TargetRows& target, const RowRatio& ratio) {
  const double wanted = std::max(few_effective_rows, 10.0 * static_cast<double>(ratio.cols + 1));
  const Flattened flat = flatten_to_ess(ratio.log_weight, wanted);
  WeightedEstimates result;
  result.exponent = flat.exponent;
  result.ess_raw = effective_sample_size((ratio.log_weight.array() - ratio.log_weight.maxCoeff()).exp().matrix());
  const std::vector<double> equal = sources.unseen.domain_equal();
  const Vector weight = flat.weights.cwiseProduct(Eigen::Map<const Vector>(equal.data(), std::ssize(equal)));
  add_weighted_means(result.estimates, sources, weight);
  if (sources.task == Task::regress) return result;
  if (const auto calibration = calibration_of(sources.unseen, {weight.begin(), weight.end()}))
    add_expected(result.estimates, Estimator::pape, calibration->calibrated(clipped_probabilities(target.probability)),
                 target);
  return result;
}

}  // namespace ecotone
