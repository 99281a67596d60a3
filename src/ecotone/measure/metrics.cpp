#include "ecotone/measure/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/measure/recalibration.h"

namespace ecotone {

namespace {

constexpr Index calibration_bins = 15;

void check_rows(std::string_view who, Index truth, Index predicted) {
  if (truth == 0) internal_error("{}: no rows", who);
  if (truth != predicted) internal_error("{}: {} predictions for {} rows", who, predicted, truth);
}

Index rows_of(Truth truth) { return static_cast<Index>(truth.size()); }

Eigen::Map<const Vector> as_vector(RowWeights weight) { return {weight.data(), static_cast<Index>(weight.size())}; }

/// Probability of a class; 0 for a class unknown to the model.
double probability_of(ConstMatrixView probability, Index row, Index k) {
  return k >= 0 && k < probability.cols() ? probability(row, k) : 0.0;
}

Index class_count(Truth truth) { return 1 + *std::max_element(truth.begin(), truth.end()); }

/// Mean of an expression over weighted rows.
template <class Values>
double mean_over_rows(const Values& values, RowWeights weight) {
  if (weight.empty()) return values.sum() / static_cast<double>(values.size());
  return values.dot(as_vector(weight)) / as_vector(weight).sum();
}

}  // namespace

double weighted_mean(std::span<const double> values, RowWeights weight) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += weight_at(weight, i) * values[i];
  return sum / total_weight(weight, values.size());
}

double accuracy(Truth truth, Predicted predicted, RowWeights weight) {
  check_rows("accuracy", rows_of(truth), rows_of(predicted));
  double right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += truth[i] == predicted[i] ? weight_at(weight, i) : 0;
  return right / total_weight(weight, truth.size());
}

double balanced_accuracy(Truth truth, Predicted predicted, RowWeights weight) {
  check_rows("balanced_accuracy", rows_of(truth), rows_of(predicted));
  const auto classes = static_cast<std::size_t>(class_count(truth));
  std::vector<double> rows(classes, 0.0);
  std::vector<double> right(classes, 0.0);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto k = static_cast<std::size_t>(truth[i]);
    rows[k] += weight_at(weight, i);
    right[k] += truth[i] == predicted[i] ? weight_at(weight, i) : 0;
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

ClassRankings::ClassRankings(Truth truth, ConstMatrixView probability) {
  check_rows("auroc", rows_of(truth), probability.rows());
  const Index seen = class_count(truth);
  const Index classes = std::max(seen, probability.cols());
  std::vector<std::uint8_t> positive(truth.size());
  std::vector<double> score(truth.size());
  for (Index k = classes == 2 ? 1 : 0; k < seen; ++k) {
    for (std::size_t i = 0; i < truth.size(); ++i) {
      positive[i] = truth[i] == k;
      score[i] = probability_of(probability, static_cast<Index>(i), k);
    }
    if (std::ranges::find(positive, 1) != positive.end()) of_class_.emplace_back(positive, score);
  }
}

template <class Measure>
std::optional<double> ClassRankings::mean_of(const Measure& measure) const {
  double sum = 0;
  double present = 0;
  for (const Ranking& ranking : of_class_) {
    if (!ranking.ranked()) return {};
    const std::optional<double> value = measure(ranking);
    if (!value) continue;  // its rows have no weight, or all of it
    sum += *value;
    present += 1;
  }
  if (present == 0) return {};
  return sum / present;
}

std::optional<double> ClassRankings::auroc(RowWeights weight) const {
  return mean_of([&](const Ranking& ranking) { return ranking.auroc(weight); });
}

std::optional<double> ClassRankings::average_precision(RowWeights weight) const {
  return mean_of([&](const Ranking& ranking) { return ranking.average_precision(weight); });
}

std::optional<double> auroc(std::span<const std::uint8_t> positive, std::span<const double> score, RowWeights weight) {
  check_rows("auroc", static_cast<Index>(positive.size()), static_cast<Index>(score.size()));
  return Ranking(positive, score).auroc(weight);
}

std::optional<double> auroc(Truth truth, ConstMatrixView probability, RowWeights weight) {
  return ClassRankings(truth, probability).auroc(weight);
}

std::optional<double> average_precision(Truth truth, ConstMatrixView probability, RowWeights weight) {
  return ClassRankings(truth, probability).average_precision(weight);
}

std::vector<double> log_losses(Truth truth, ConstMatrixView probability) {
  check_rows("log_loss", rows_of(truth), probability.rows());
  std::vector<double> losses;
  for (Index i = 0; i < rows_of(truth); ++i)
    losses.push_back(-std::log(
        std::clamp(probability_of(probability, i, truth[at(i)]), smallest_probability, 1 - smallest_probability)));
  return losses;
}

double log_loss(Truth truth, ConstMatrixView probability, RowWeights weight) {
  return weighted_mean(log_losses(truth, probability), weight);
}

double brier(Truth truth, ConstMatrixView probability, RowWeights weight) {
  const double sum = brier_sum(truth, probability, weight);
  // (p_0 - y_0)^2 = (p_1 - y_1)^2
  return std::max(class_count(truth), probability.cols()) == 2 ? sum / 2 : sum;
}

std::vector<double> brier_sums(Truth truth, ConstMatrixView probability) {
  check_rows("brier_sum", rows_of(truth), probability.rows());
  std::vector<double> losses;
  for (Index i = 0; i < rows_of(truth); ++i) {
    const double p = probability_of(probability, i, truth[at(i)]);
    // sum_j (p_j - [j = k])^2, k the true class
    losses.push_back(probability.row(i).squaredNorm() - p * p + (1 - p) * (1 - p));
  }
  return losses;
}

double brier_sum(Truth truth, ConstMatrixView probability, RowWeights weight) {
  return weighted_mean(brier_sums(truth, probability), weight);
}

CalibrationBins::CalibrationBins(Truth truth, Predicted predicted, ConstMatrixView probability) {
  check_rows("calibration_error", rows_of(truth), rows_of(predicted));
  check_rows("calibration_error", rows_of(truth), probability.rows());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double top = probability.row(static_cast<Index>(i)).maxCoeff();
    const double place = std::clamp(std::floor(top * static_cast<double>(calibration_bins)), 0.0,
                                    static_cast<double>(calibration_bins - 1));
    const double bin = std::isnan(place) ? 0.0 : place;
    rows_.push_back({static_cast<std::uint8_t>(bin), truth[i] == predicted[i], top});
  }
}

double CalibrationBins::error(RowWeights weight) const {
  std::array<double, calibration_bins> right{};
  std::array<double, calibration_bins> confidence{};
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double w = weight_at(weight, i);
    right[rows_[i].bin] += rows_[i].right ? w : 0;
    confidence[rows_[i].bin] += w * rows_[i].top;
  }
  double sum = 0;
  for (std::size_t b = 0; b < calibration_bins; ++b) sum += std::abs(right[b] - confidence[b]);
  return sum / total_weight(weight, rows_.size());
}

double calibration_error(Truth truth, Predicted predicted, ConstMatrixView probability, RowWeights weight) {
  return CalibrationBins(truth, predicted, probability).error(weight);
}

double rmse(ConstVectorView truth, ConstVectorView value, RowWeights weight) {
  check_rows("rmse", truth.size(), value.size());
  return std::sqrt(mean_over_rows((truth - value).cwiseAbs2(), weight));
}

double mae(ConstVectorView truth, ConstVectorView value, RowWeights weight) {
  check_rows("mae", truth.size(), value.size());
  return mean_over_rows((truth - value).cwiseAbs(), weight);
}

std::optional<double> r2(ConstVectorView truth, ConstVectorView value, RowWeights weight) {
  check_rows("r2", truth.size(), value.size());
  std::optional<double> first;
  bool constant = true;
  for (Index i = 0; i < truth.size() && constant; ++i) {
    if (weight_at(weight, at(i)) == 0) continue;
    if (!first) first = truth[i];
    constant = truth[i] == *first;
  }
  if (constant) return {};
  if (weight.empty()) return 1 - (truth - value).squaredNorm() / (truth.array() - truth.mean()).square().sum();
  const double mean = mean_over_rows(truth, weight);
  return 1 - mean_over_rows((truth - value).cwiseAbs2(), weight) /
                 mean_over_rows((truth.array() - mean).square().matrix(), weight);
}

double effective_sample_size(ConstVectorView weights) {
  const double squares = weights.squaredNorm();
  const double sum = weights.sum();
  return squares == 0 ? 0.0 : sum * sum / squares;
}

}  // namespace ecotone
