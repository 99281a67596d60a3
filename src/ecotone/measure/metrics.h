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
#include "ecotone/measure/ranking.h"
#include "ecotone/measure/residual_interval.h"
#include "ecotone/measure/row_weights.h"

/// Metrics of predictions for rows with known labels. Classes are numbered 0 .. K-1; `probability` is n x K, and a true
/// class beyond its columns is one that the model never saw: its probability is 0, so the row always counts as wrong.
/// At least one row is needed and sizes must agree. A metric that can be undefined is an optional; the others are NaN
/// if all rows have weight 0. With weights the values are those of scikit-learn with `sample_weight`.
namespace ecotone {

/// The true class of each row.
using Truth = std::span<const std::int32_t>;
/// The predicted class of each row.
using Predicted = std::span<const std::int32_t>;

/// Share of rows classified correctly.
double accuracy(Truth truth, Predicted predicted, RowWeights weight = {});
/// Accuracy within each class present in the truth, averaged over these classes.
double balanced_accuracy(Truth truth, Predicted predicted, RowWeights weight = {});
/// Probability that a random positive row scores above a random negative one, ties counting one half. Undefined unless
/// both occur and no score is NaN. `positive` holds 0 or 1.
std::optional<double> auroc(std::span<const std::uint8_t> positive, std::span<const double> score,
                            RowWeights weight = {});
/// Two classes: the AUROC of the second class's probability. More: the mean of one-versus-rest over the classes
/// present. Undefined if only one class is present.
std::optional<double> auroc(Truth truth, ConstMatrixView probability, RowWeights weight = {});
/// Sum over the distinct probabilities, from the highest down, of the gain in recall times the precision: of the second
/// class, or for more than two classes the mean of one-versus-rest over the classes present. Undefined if only one
/// class is present.
std::optional<double> average_precision(Truth truth, ConstMatrixView probability, RowWeights weight = {});
/// Mean of -log of the probability given to the true class, clipped to [1e-15, 1 - 1e-15].
double log_loss(Truth truth, ConstMatrixView probability, RowWeights weight = {});
/// Brier score, 0 to 1 for two classes: the mean of (p - y)^2, p the probability of the second class and y 1 where it
/// is the truth. For more classes, or with a truth that the model has never seen, `brier_sum`. The same as
/// scikit-learn's brier_score_loss.
double brier(Truth truth, ConstMatrixView probability, RowWeights weight = {});
/// Mean squared distance between the probabilities and the indicator of the true class, summed over classes (so 0 to 2,
/// and twice `brier` for two classes). This is what the design and the golden cases of trust call the Brier score.
double brier_sum(Truth truth, ConstMatrixView probability, RowWeights weight = {});
/// Expected calibration error: rows fall into 15 equal-width bins of their top probability; the mean over rows of
/// |accuracy - mean top probability| of their bin.
double calibration_error(Truth truth, Predicted predicted, ConstMatrixView probability, RowWeights weight = {});

/// Root mean squared error.
double rmse(ConstVectorView truth, ConstVectorView value, RowWeights weight = {});
/// Mean absolute error.
double mae(ConstVectorView truth, ConstVectorView value, RowWeights weight = {});
/// 1 - squared error / squared deviation from the mean; undefined when the truth is constant.
std::optional<double> r2(ConstVectorView truth, ConstVectorView value, RowWeights weight = {});

/// The losses that `log_loss` and `brier_sum` average, row by row.
std::vector<double> log_losses(Truth truth, ConstMatrixView probability);
std::vector<double> brier_sums(Truth truth, ConstMatrixView probability);
/// Mean of values; NaN if all weights are 0.
double weighted_mean(std::span<const double> values, RowWeights weight = {});

/// The bins of the rows' top probabilities, for `calibration_error` under many weights.
class CalibrationBins {
 public:
  CalibrationBins(Truth truth, Predicted predicted, ConstMatrixView probability);
  double error(RowWeights weight = {}) const;

 private:
  struct Row {
    std::uint8_t bin;
    bool right;
    double top;
  };
  std::vector<Row> rows_;
};

/// The order of the rows by each class's probability, for `auroc` and `average_precision` under many weights.
class ClassRankings {
 public:
  ClassRankings(Truth truth, ConstMatrixView probability);
  std::optional<double> auroc(RowWeights weight = {}) const;
  std::optional<double> average_precision(RowWeights weight = {}) const;

 private:
  std::vector<Ranking> of_class_;  // of the second class for two, otherwise of every class that occurs

  template <class Measure>
  std::optional<double> mean_of(const Measure& measure) const;
};

/// (sum a)^2 / sum a^2: the number of equally weighted rows that are worth as much as these weights; 0 when all are 0.
double effective_sample_size(ConstVectorView weights);

/// Which value of a metric is best.
enum class Best { highest, lowest, one, zero };

/// The description of a metric, for tables and reports.
struct MetricInfo {
  std::string_view name;     ///< as in JSON: "balanced_accuracy"
  std::string_view title;    ///< as shown: "balanced accuracy"
  std::string_view help;     ///< one sentence
  std::string_view formula;  ///< with w the row weights
  Task task;
  Best best;
  bool two_classes = false;   ///< defined for two classes only
  bool at_threshold = false;  ///< of classes by a threshold that is chosen within the training rows
  bool of_sets = false;       ///< of sets or intervals, which only some pipelines predict

  bool higher_is_better() const { return best == Best::highest; }
  /// Whether more or less is better, so that a choice can be made by it.
  bool has_direction() const { return best == Best::highest || best == Best::lowest; }
  /// How far a value is from the best: of two values, the one with the lower badness is better.
  double badness(double value) const;
  /// "higher is better", "1 is best"
  std::string_view best_text() const;
  /// The range of its values for a label with this number of classes, and how its errors are compared.
  MetricScale scale(Index classes) const;
};
/// All metrics in the order in which results show them.
std::span<const MetricInfo> metric_infos();
/// By name; null when unknown.
const MetricInfo* find_metric(std::string_view name);
/// Names of the metrics that an evaluation of a label with this number of classes has (any number for regression), in
/// order; those at a threshold or of sets only if there are such.
struct MetricsAsked {
  bool threshold = false;
  bool sets = false;
};
std::vector<std::string> score_metrics(Task task, Index classes, const MetricsAsked& asked = {});
/// Names of a task's metrics that a choice can be made by: those with a direction that need no threshold and no sets.
std::vector<std::string> choice_metrics(Task task);
/// The metric of this name if it is one of `names`; option error `unknown_metric` otherwise, with a near name or all.
const MetricInfo& require_metric(const std::string& name, const std::vector<std::string>& names);
/// The metric that choices are made by when the user names none, a proper score: log_loss for classes, rmse for
/// numbers.
std::string choice_metric(Task task);
/// The metric that stands for a result when the user names none: auroc, or accuracy when `defined("auroc")` is false,
/// or rmse; else the first of `names`.
std::string headline_metric(std::span<const std::string> names, const std::function<bool(const std::string&)>& defined);

}  // namespace ecotone
