#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/data/schema.h"
#include "ecotone/linalg/matrix.h"

/// Metrics of predictions for rows with known labels. Classes are numbered 0 .. K-1; `probability` is n x K, and a true
/// class beyond its columns is one that the model never saw: its probability is 0, so the row always counts as wrong.
/// At least one row is needed and sizes must agree. A metric that can be undefined is an optional.
namespace ecotone {

/// The true class of each row.
using Truth = std::span<const std::int32_t>;
/// The predicted class of each row.
using Predicted = std::span<const std::int32_t>;

/// Share of rows classified correctly.
double accuracy(Truth truth, Predicted predicted);
/// Accuracy within each class present in the truth, averaged over these classes.
double balanced_accuracy(Truth truth, Predicted predicted);
/// Probability that a random positive row scores above a random negative one, ties counting one half. Undefined unless
/// both occur and no score is NaN. `positive` holds 0 or 1.
std::optional<double> auroc(std::span<const std::uint8_t> positive, std::span<const double> score);
/// Two classes: the AUROC of the second class's probability. More: the mean of one-versus-rest over the classes
/// present. Undefined if only one class is present.
std::optional<double> auroc(Truth truth, ConstMatrixView probability);
/// Mean of -log of the probability given to the true class, clipped to [1e-15, 1 - 1e-15].
double log_loss(Truth truth, ConstMatrixView probability);
/// Brier score, 0 to 1 for two classes: the mean of (p - y)^2, p the probability of the second class and y 1 where it
/// is the truth. For more classes, or with a truth that the model has never seen, `brier_sum`. The same as
/// scikit-learn's brier_score_loss.
double brier(Truth truth, ConstMatrixView probability);
/// Mean squared distance between the probabilities and the indicator of the true class, summed over classes (so 0 to 2,
/// and twice `brier` for two classes). This is what the design and the golden cases of trust call the Brier score.
double brier_sum(Truth truth, ConstMatrixView probability);
/// Expected calibration error: rows fall into 15 equal-width bins of their top probability; the mean over rows of
/// |accuracy - mean top probability| of their bin.
double calibration_error(Truth truth, Predicted predicted, ConstMatrixView probability);

/// Root mean squared error.
double rmse(ConstVectorView truth, ConstVectorView value);
/// Mean absolute error.
double mae(ConstVectorView truth, ConstVectorView value);
/// 1 - squared error / squared deviation from the mean; undefined when the truth is constant.
std::optional<double> r2(ConstVectorView truth, ConstVectorView value);

/// (sum a)^2 / sum a^2: the number of equally weighted rows that are worth as much as these weights; 0 when all are 0.
double effective_sample_size(ConstVectorView weights);

/// The description of a metric, for tables and reports.
struct MetricInfo {
  std::string_view name;   ///< as in JSON: "balanced_accuracy"
  std::string_view title;  ///< as shown: "balanced accuracy"
  std::string_view help;   ///< one sentence
  Task task;
  bool higher_is_better;
};
/// All metrics in the order in which results show them.
std::span<const MetricInfo> metric_infos();
/// By name; null when unknown.
const MetricInfo* find_metric(std::string_view name);
/// Names of a task's metrics, in order.
std::vector<std::string> metric_names(Task task);
/// The metric of this name if it is one of `names`; option error `unknown_metric` otherwise, with a near name or all.
const MetricInfo& require_metric(const std::string& name, const std::vector<std::string>& names);
/// The metric that choices are made by when the user names none, a proper score: log_loss for classes, rmse for
/// numbers.
std::string choice_metric(Task task);
/// The metric that stands for a result when the user names none: auroc, or accuracy when `defined("auroc")` is false,
/// or rmse; else the first of `names`.
std::string headline_metric(std::span<const std::string> names, const std::function<bool(const std::string&)>& defined);

}  // namespace ecotone
