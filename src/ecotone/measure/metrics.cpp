#include "ecotone/measure/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"

namespace ecotone {

namespace {

constexpr double smallest_probability = 1e-15;
constexpr Index calibration_bins = 15;

constexpr std::array<MetricInfo, 10> all_metrics{{
    {"accuracy", "accuracy", "Share of rows classified correctly.", Task::classify, true},
    {"balanced_accuracy", "balanced accuracy", "Accuracy within each class, averaged over classes.", Task::classify,
     true},
    {"auroc", "AUROC", "Chance that a random positive row is ranked above a random negative one; 0.5 is guessing.",
     Task::classify, true},
    {"log_loss", "log loss", "Mean negative logarithm of the probability given to the true class.", Task::classify,
     false},
    {"brier", "Brier score",
     "Mean squared error of the probability (two classes: of the second; more: summed over classes).", Task::classify,
     false},
    {"brier_sum", "Brier sum", "Mean squared error of the probabilities, summed over classes for two classes too.",
     Task::classify, false},
    {"calibration_error", "calibration error",
     "Mean gap between stated confidence and observed accuracy, over 15 bins.", Task::classify, false},
    {"rmse", "RMSE", "Root mean squared error, in units of the label.", Task::regress, false},
    {"mae", "MAE", "Mean absolute error, in units of the label.", Task::regress, false},
    {"r2", "R²", "Share of the label's variance explained by the predictions; 0 is predicting the mean.", Task::regress,
     true},
}};

void check_rows(std::string_view who, Index truth, Index predicted) {
  if (truth == 0) internal_error("{}: no rows", who);
  if (truth != predicted) internal_error("{}: {} predictions for {} rows", who, predicted, truth);
}

Index rows_of(Truth truth) { return static_cast<Index>(truth.size()); }

/// Probability of a class; 0 for a class unknown to the model.
double probability_of(ConstMatrixView probability, Index row, Index k) {
  return k >= 0 && k < probability.cols() ? probability(row, k) : 0.0;
}

Index class_count(Truth truth) { return 1 + *std::max_element(truth.begin(), truth.end()); }

}  // namespace

double accuracy(Truth truth, Predicted predicted) {
  check_rows("accuracy", rows_of(truth), rows_of(predicted));
  Index right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += truth[i] == predicted[i];
  return static_cast<double>(right) / static_cast<double>(truth.size());
}

double balanced_accuracy(Truth truth, Predicted predicted) {
  check_rows("balanced_accuracy", rows_of(truth), rows_of(predicted));
  const auto classes = static_cast<std::size_t>(class_count(truth));
  std::vector<double> rows(classes, 0.0);
  std::vector<double> right(classes, 0.0);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto k = static_cast<std::size_t>(truth[i]);
    rows[k] += 1;
    right[k] += truth[i] == predicted[i];
  }
  double sum = 0;
  double present = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    if (rows[k] == 0) continue;
    sum += right[k] / rows[k];
    present += 1;
  }
  return sum / present;
}

std::optional<double> auroc(std::span<const std::uint8_t> positive, std::span<const double> score) {
  check_rows("auroc", static_cast<Index>(positive.size()), static_cast<Index>(score.size()));
  // A NaN has no rank (and would break the sort).
  if (std::any_of(score.begin(), score.end(), [](double s) { return std::isnan(s); })) return {};
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score[a] < score[b]; });
  double n_positive = 0;
  double rank_sum = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double tied_positive = 0;
    for (end = begin; end < order.size() && score[order[end]] == score[order[begin]]; ++end)
      tied_positive += positive[order[end]] != 0;
    // Ranks start at 1; rows with equal scores share the mean of their ranks.
    rank_sum += tied_positive * 0.5 * static_cast<double>(begin + 1 + end);
    n_positive += tied_positive;
  }
  const double n_negative = static_cast<double>(score.size()) - n_positive;
  if (n_positive == 0 || n_negative == 0) return {};
  // U = R+ - n+ (n+ + 1) / 2, AUROC = U / (n+ n-)
  return (rank_sum - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative);
}

std::optional<double> auroc(Truth truth, ConstMatrixView probability) {
  check_rows("auroc", rows_of(truth), probability.rows());
  const Index seen = class_count(truth);
  const Index classes = std::max(seen, probability.cols());
  std::vector<std::uint8_t> positive(truth.size());
  std::vector<double> score(truth.size());
  double sum = 0;
  double present = 0;
  for (Index k = classes == 2 ? 1 : 0; k < seen; ++k) {
    for (std::size_t i = 0; i < truth.size(); ++i) {
      positive[i] = truth[i] == k;
      score[i] = probability_of(probability, static_cast<Index>(i), k);
    }
    if (std::none_of(positive.begin(), positive.end(), [](std::uint8_t p) { return p != 0; })) continue;
    const auto one_versus_rest = auroc(positive, score);
    if (!one_versus_rest) return {};
    sum += *one_versus_rest;
    present += 1;
  }
  if (present == 0) return {};
  return sum / present;
}

double log_loss(Truth truth, ConstMatrixView probability) {
  check_rows("log_loss", rows_of(truth), probability.rows());
  double sum = 0;
  for (Index i = 0; i < rows_of(truth); ++i)
    sum -= std::log(
        std::clamp(probability_of(probability, i, truth[at(i)]), smallest_probability, 1 - smallest_probability));
  return sum / static_cast<double>(truth.size());
}

double brier(Truth truth, ConstMatrixView probability) {
  const double sum = brier_sum(truth, probability);
  // (p_0 - y_0)^2 = (p_1 - y_1)^2
  return std::max(class_count(truth), probability.cols()) == 2 ? sum / 2 : sum;
}

double brier_sum(Truth truth, ConstMatrixView probability) {
  check_rows("brier_sum", rows_of(truth), probability.rows());
  double sum = 0;
  for (Index i = 0; i < rows_of(truth); ++i) {
    const Index k = truth[at(i)];
    const double p = probability_of(probability, i, k);
    // sum_j (p_j - [j = k])^2
    sum += probability.row(i).squaredNorm() - p * p + (1 - p) * (1 - p);
  }
  return sum / static_cast<double>(truth.size());
}

double calibration_error(Truth truth, Predicted predicted, ConstMatrixView probability) {
  check_rows("calibration_error", rows_of(truth), rows_of(predicted));
  check_rows("calibration_error", rows_of(truth), probability.rows());
  std::array<double, calibration_bins> right{};
  std::array<double, calibration_bins> confidence{};
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double top = probability.row(static_cast<Index>(i)).maxCoeff();
    const double place = std::clamp(std::floor(top * static_cast<double>(calibration_bins)), 0.0,
                                    static_cast<double>(calibration_bins - 1));
    const auto bin = static_cast<std::size_t>(std::isnan(place) ? 0.0 : place);
    right[bin] += truth[i] == predicted[i];
    confidence[bin] += top;
  }
  double sum = 0;
  for (std::size_t b = 0; b < calibration_bins; ++b) sum += std::abs(right[b] - confidence[b]);
  return sum / static_cast<double>(truth.size());
}

double rmse(ConstVectorView truth, ConstVectorView value) {
  check_rows("rmse", truth.size(), value.size());
  return std::sqrt((truth - value).squaredNorm() / static_cast<double>(truth.size()));
}

double mae(ConstVectorView truth, ConstVectorView value) {
  check_rows("mae", truth.size(), value.size());
  return (truth - value).lpNorm<1>() / static_cast<double>(truth.size());
}

std::optional<double> r2(ConstVectorView truth, ConstVectorView value) {
  check_rows("r2", truth.size(), value.size());
  if (truth.minCoeff() == truth.maxCoeff()) return {};
  return 1 - (truth - value).squaredNorm() / (truth.array() - truth.mean()).square().sum();
}

double effective_sample_size(ConstVectorView weights) {
  const double squares = weights.squaredNorm();
  const double sum = weights.sum();
  return squares == 0 ? 0.0 : sum * sum / squares;
}

std::span<const MetricInfo> metric_infos() { return all_metrics; }

const MetricInfo* find_metric(std::string_view name) {
  for (const auto& metric : all_metrics)
    if (metric.name == name) return &metric;
  return nullptr;
}

std::vector<std::string> metric_names(Task task) {
  std::vector<std::string> names;
  for (const auto& metric : all_metrics)
    if (metric.task == task) names.emplace_back(metric.name);
  return names;
}

const MetricInfo& require_metric(const std::string& name, const std::vector<std::string>& names) {
  const MetricInfo* found = find_metric(name);
  if (found != nullptr && std::ranges::find(names, name) != names.end()) return *found;
  const std::string near = did_you_mean(name, names);
  if (!near.empty()) option_error("unknown_metric", "unknown metric '{}'; did you mean '{}'?", name, near);
  option_error("unknown_metric", "unknown metric '{}'; choose one of {}", name, fmt::join(names, ", "));
}

std::string choice_metric(Task task) { return task == Task::classify ? "log_loss" : "rmse"; }

std::string headline_metric(std::span<const std::string> names,
                            const std::function<bool(const std::string&)>& defined) {
  for (const std::string wanted : {"auroc", "accuracy", "rmse"})
    if (std::find(names.begin(), names.end(), wanted) != names.end() && (wanted != "auroc" || defined(wanted)))
      return wanted;
  return names.empty() ? std::string() : names.front();
}

}  // namespace ecotone
