#pragma once

#include <optional>
#include <span>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// What metrics are expected to be for rows without labels, if `probability` (n x classes) is what their classes are
/// drawn with. `predicted` and `own` are the predictions that are judged: a class and probabilities of each row.
struct ExpectedMetrics {
  Matrix confusion;                         ///< (i, j): share of rows that are predicted i and of class j; sums to 1
  double accuracy = 0;                      ///< its trace
  std::optional<double> balanced_accuracy;  ///< over classes of positive expected share
  double log_loss = 0;
  double brier = 0;             ///< as the metric of this name: half of the sum over classes for two
  double brier_sum = 0;         ///< the sum over classes
  std::optional<double> auroc;  ///< as the metric of this name; empty if one class is expected alone
};
ExpectedMetrics expected_metrics(ConstMatrixView probability, std::span<const std::int32_t> predicted,
                                 ConstMatrixView own);

/// sum over i != j of q_i (1 - q_j) [s_i > s_j + (s_i = s_j) / 2] / sum over i != j of q_i (1 - q_j): the expected
/// AUROC of scores s if row i is positive with probability q_i. Empty if no pair has weight.
std::optional<double> expected_auroc(std::span<const double> score, std::span<const double> probability);

}  // namespace ecotone
