#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ecotone/evaluate/score.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/recalibration.h"

namespace ecotone {

/// Row `local` of an outcome.
struct Pick {
  const Outcome* outcome;
  Index local;

  Index row() const { return outcome->rows[at(local)]; }
};

/// Predictions for scored rows beside their truth, prepared so that the metrics can be computed for many weights.
class ScoredRows {
 public:
  /// At least one pick, those of an outcome together. `asked`: with metrics at the outcomes' thresholds, or of their
  /// sets.
  ScoredRows(const Labels& y, std::span<const Pick> picks, const MetricsAsked& asked);

  /// The values of `score_metrics`, in order. AUROC and average precision depend on the order of rows, and scores of
  /// different models cannot be ordered together: they are computed among the rows that one model predicted, then
  /// averaged over the models where they are defined, weighted by their rows.
  std::vector<std::optional<double>> metrics(RowWeights weight) const;

 private:
  /// The rows that one model predicted.
  struct OfModel {
    std::size_t first;
    std::size_t rows;
    ClassRankings rankings;
  };

  Task task_;
  // classification
  std::vector<std::int32_t> truth_;
  std::vector<std::int32_t> predicted_;
  Matrix probability_;
  std::vector<double> log_losses_;
  std::vector<double> brier_sums_;
  std::optional<CalibrationBins> bins_;
  std::vector<OfModel> models_;
  std::optional<Recalibration> recalibration_;  // two classes
  MetricsAsked asked_;
  std::vector<bool> above_;  // whether the second class's probability reaches the threshold; empty: one has none
  // regression
  Vector true_value_;
  Vector value_;
  // whether each row's set holds its label, and how large it is; empty: there are no sets
  std::vector<double> covered_;
  std::vector<double> size_;

  void add_classes(const Labels& y, std::span<const Pick> picks);
  void add_threshold(std::span<const Pick> picks);
  void add_sets(const Labels& y, std::span<const Pick> picks);
  std::vector<std::optional<double>> class_metrics(RowWeights weight) const;
  void append_threshold_metrics(std::vector<std::optional<double>>& values, RowWeights weight) const;
  template <class Measure>
  std::optional<double> mean_of_models(const Measure& measure, RowWeights weight) const;
};

}  // namespace ecotone
