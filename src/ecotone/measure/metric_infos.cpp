#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {

namespace {

constexpr std::array<MetricInfo, 22> all_metrics{{
    {"accuracy", "accuracy", "Share of rows classified correctly.", "sum w [predicted = y] / sum w", Task::classify,
     Best::highest},
    {"balanced_accuracy", "balanced accuracy", "Accuracy within each class, averaged over classes.",
     "mean over the classes k present of sum_{y = k} w [predicted = k] / sum_{y = k} w", Task::classify, Best::highest},
    {"auroc", "AUROC", "Chance that a random positive row is ranked above a random negative one; 0.5 is guessing.",
     "sum over pairs of a positive row i and a negative row j of w_i w_j ([p_i > p_j] + [p_i = p_j] / 2), divided by "
     "sum w_i w_j; p is the probability of the second class (more classes: the mean of one versus rest over the "
     "classes present)",
     Task::classify, Best::highest},
    {"average_precision", "average precision",
     "Precision averaged over the recalls of all thresholds; guessing gives the share of positive rows.",
     "sum over the distinct p from the highest down of (gain in recall) x precision, of the second class (more "
     "classes: the mean of one versus rest over the classes present)",
     Task::classify, Best::highest},
    {"log_loss", "log loss", "Mean negative logarithm of the probability given to the true class.",
     "-sum w ln p_y / sum w, p clipped to [1e-15, 1 - 1e-15]", Task::classify, Best::lowest},
    {"brier", "Brier score",
     "Mean squared error of the probability (two classes: of the second; more: summed over classes).",
     "sum w (p - [y = second class])^2 / sum w; more than two classes: brier_sum", Task::classify, Best::lowest},
    {"brier_sum", "Brier sum", "Mean squared error of the probabilities, summed over classes for two classes too.",
     "sum w sum_k (p_k - [y = k])^2 / sum w", Task::classify, Best::lowest},
    {"calibration_error", "calibration error",
     "Mean gap between stated confidence and observed accuracy, over 15 bins.",
     "sum over 15 equal bins of the top probability p of |sum w [predicted = y] - sum w p| / sum w", Task::classify,
     Best::lowest},
    {"calibration_slope", "calibration slope",
     "How much the probabilities would have to be stretched: below 1 they are too extreme, above 1 too timid.",
     "b of the weighted logistic regression P(second class) = sigmoid(a + b logit p), p clipped as in log_loss; "
     "undefined where no finite b is the best",
     Task::classify, Best::one, true},
    {"calibration_intercept", "calibration intercept",
     "Calibration in the large: below 0 the probabilities are too high on average, above 0 too low.",
     "a of the weighted logistic regression P(second class) = sigmoid(a + logit p), its slope fixed at 1; p clipped as "
     "in log_loss",
     Task::classify, Best::zero, true},
    {"sensitivity", "sensitivity", "Share of the positive rows that are found.", "TP / (TP + FN)", Task::classify,
     Best::highest, true, true},
    {"specificity", "specificity", "Share of the negative rows that are left alone.", "TN / (TN + FP)", Task::classify,
     Best::highest, true, true},
    {"ppv", "PPV", "Positive predictive value, or precision: share of positive rows among those called positive.",
     "TP / (TP + FP)", Task::classify, Best::highest, true, true},
    {"npv", "NPV", "Negative predictive value: share of negative rows among those called negative.", "TN / (TN + FN)",
     Task::classify, Best::highest, true, true},
    {"f1", "F1", "Harmonic mean of sensitivity and PPV.", "2 TP / (2 TP + FP + FN)", Task::classify, Best::highest,
     true, true},
    {"set_coverage", "coverage", "Share of rows whose set holds their class.", "sum w [y in set] / sum w",
     Task::classify, Best::highest, false, false, true},
    {"set_size", "set size", "Mean number of classes in a set.", "sum w |set| / sum w", Task::classify, Best::lowest,
     false, false, true},
    {"rmse", "RMSE", "Root mean squared error, in units of the label.", "sqrt(sum w (y - prediction)^2 / sum w)",
     Task::regress, Best::lowest},
    {"mae", "MAE", "Mean absolute error, in units of the label.", "sum w |y - prediction| / sum w", Task::regress,
     Best::lowest},
    {"r2", "R²", "Share of the label's variance explained by the predictions; 0 is predicting the mean.",
     "1 - sum w (y - prediction)^2 / sum w (y - weighted mean of y)^2; undefined when y is constant", Task::regress,
     Best::highest},
    {"interval_coverage", "coverage", "Share of rows whose interval holds their label.",
     "sum w [low <= y <= high] / sum w", Task::regress, Best::highest, false, false, true},
    {"interval_width", "interval width", "Mean width of an interval, in units of the label.",
     "sum w max(0, high - low) / sum w", Task::regress, Best::lowest, false, false, true},
}};

template <class Condition>
std::vector<std::string> names_where(const Condition& condition) {
  std::vector<std::string> names;
  for (const MetricInfo& metric : all_metrics)
    if (condition(metric)) names.emplace_back(metric.name);
  return names;
}

}  // namespace

double MetricInfo::badness(double value) const {
  switch (best) {
    case Best::highest:
      return -value;
    case Best::lowest:
      return value;
    case Best::one:
      return std::abs(value - 1);
    case Best::zero:
      return std::abs(value);
  }
  internal_error("metric {} has no best value", name);
}

std::string_view MetricInfo::best_text() const {
  switch (best) {
    case Best::highest:
      return "higher is better";
    case Best::lowest:
      return "lower is better";
    case Best::one:
      return "1 is best";
    case Best::zero:
      return "0 is best";
  }
  internal_error("metric {} has no best value", name);
}

std::span<const MetricInfo> metric_infos() { return all_metrics; }

const MetricInfo* find_metric(std::string_view name) {
  for (const auto& metric : all_metrics)
    if (metric.name == name) return &metric;
  return nullptr;
}

MetricScale MetricInfo::scale(Index classes) const {
  constexpr double unlimited = std::numeric_limits<double>::infinity();
  if (task == Task::regress && name != "r2" && name != "interval_coverage")
    return {.least = 0, .most = unlimited, .logarithmic = true};
  if (name == "r2") return {.least = -unlimited, .most = 1};
  if (best == Best::one || best == Best::zero) return {};
  if (name == "log_loss") return {.least = 0, .most = unlimited};
  if (name == "brier_sum" || (name == "brier" && classes != 2)) return {.least = 0, .most = 2};
  if (name == "set_size") return {.least = 0, .most = static_cast<double>(classes)};
  return {.least = 0, .most = 1};
}

std::vector<std::string> score_metrics(Task task, Index classes, const MetricsAsked& asked) {
  return names_where([&](const MetricInfo& metric) {
    return metric.task == task && (classes == 2 || !metric.two_classes) && (asked.threshold || !metric.at_threshold) &&
           (asked.sets || !metric.of_sets);
  });
}

std::vector<std::string> choice_metrics(Task task) {
  return names_where([&](const MetricInfo& metric) {
    return metric.task == task && metric.has_direction() && !metric.at_threshold && !metric.of_sets;
  });
}

const MetricInfo& require_metric(const std::string& name, const std::vector<std::string>& names) {
  const MetricInfo* found = find_metric(name);
  if (found != nullptr && std::ranges::find(names, name) != names.end()) return *found;
  if (found != nullptr)
    option_error("unknown_metric", "there is no {} here; choose one of {}", name, fmt::join(names, ", "));
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
