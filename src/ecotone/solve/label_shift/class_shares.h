#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ecotone/linalg/matrix.h"

/// The shares of classes in a target without labels, if its classes look as they do in the sources and only their
/// shares differ (label shift).
namespace ecotone {

struct EmOptions {
  int most_steps = 10'000;
  double tolerance = 1e-10;  ///< of the largest change of a share
};

struct ClassShares {
  Vector share;           ///< of each class in the target; may lie on the border (0)
  Vector weight;          ///< share / source share
  Vector standard_error;  ///< from the noise of the target's rows alone; NaN where it is not defined
  int steps = 0;
  bool converged = false;
};

/// Maximum likelihood by EM (saerens2002): q_j <- mean_i of p_ij q_j / pi_j / sum_l p_il q_l / pi_l, from q = pi. The
/// probabilities must be calibrated. Data errors: `empty_data`, `shape_mismatch`, `non_finite`, `zero_prior` if a
/// source share is 0.
ClassShares em_shares(ConstMatrixView target, const Vector& source_share, const EmOptions& options = {});
/// Probabilities with the target's shares: p_j weight_j, normalised.
Matrix reweighted(ConstMatrixView probability, const Vector& weight);

/// What a model predicts for rows of each class: (i, j) is the share of all source rows that are predicted i and of
/// class j; with `soft` the mean probability of i. Rows count by their weights.
Matrix confusion_shares(ConstMatrixView probability, std::span<const std::int32_t> predicted,
                        std::span<const std::int32_t> label, std::span<const double> weight, bool soft);
/// The share of rows that are predicted each class, or the mean probability.
Vector predicted_shares(ConstMatrixView probability, std::span<const std::int32_t> predicted, bool soft);

/// Black-box shift estimation (lipton2018): w = C^-1 mu.
struct ShareWeights {
  Vector raw;     ///< as solved
  Vector weight;  ///< not below 0
  /// The target's shares: weight times the source's, normalised.
  Vector shares(const Vector& source_share) const;
};
/// Data error `singular_confusion` if C has a condition above 1,000: some class is predicted like another.
ShareWeights bbse(const Matrix& confusion, const Vector& predicted_target);

/// The same with a penalty (RLLS, azizzadenesheli2019): w = 1 + theta, theta >= -1, least
/// |C theta - (mu_target - mu_source)| + alpha rho |theta|.
struct PenalisedWeights {
  Vector weight;
  double rho = 0;
  double objective = 0;
};
PenalisedWeights rlls(const Matrix& confusion, const Vector& predicted_target, const Vector& predicted_source,
                      Index rows, double alpha = 0.01);

/// Whether classes look in the target as they do in the sources.
struct LabelShiftTest {
  Vector share;           ///< of the classes, by EM on the bins
  Vector fitted;          ///< by generalised least squares
  Vector standard_error;  ///< of these
  double x2 = 0;          ///< of what they leave unexplained
  int freedom = 0;
  double p_value = 0;
};
/// From rows counted in bins of a prediction: `counts` is bins x classes of source rows, `target` per bin. Data error
/// `not_overidentified` unless there are more bins than classes: then any counts would fit.
LabelShiftTest label_shift_test(const Matrix& counts, const Vector& target);

/// The bin of each row for that test: its class times the tercile of the probability of that class. Edges come from
/// these source rows; bins that none of them is in are dropped.
class PredictionBins {
 public:
  PredictionBins(ConstMatrixView probability, std::span<const std::int32_t> predicted);
  Index count() const { return count_; }
  /// -1: a bin that was dropped.
  Index bin(std::int32_t predicted, double probability) const;

 private:
  std::vector<std::vector<double>> edges_;  ///< of each class
  std::vector<Index> number_;               ///< of class * 3 + tercile
  Index count_ = 0;
};

}  // namespace ecotone
