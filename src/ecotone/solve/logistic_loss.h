#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "ecotone/base/index.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Sums over rows: the loss, and how the true class stands against the others.
struct LossSums {
  double loss = 0;
  double min_margin = std::numeric_limits<double>::infinity();  ///< over weighted rows and other classes
  double max_margin = 0;                                        ///< of absolute values

  void merge(const LossSums& other) {
    loss += other.loss;
    min_margin = std::min(min_margin, other.min_margin);
    max_margin = std::max(max_margin, other.max_margin);
  }
};

/// The logistic loss (1/A) sum_n a_n loss_n of scores, two classes or softmax.
///
/// Two classes: one score per row, that of class 1 against class 0. More: the K scores are Q t with an orthonormal
/// basis Q of the vectors that sum to zero, so that K-1 numbers t fix them and the penalty ||W||^2 is ||W Q||^2.
class LogisticLoss {
 public:
  /// `weight` empty: all 1; `norm` is A.
  LogisticLoss(std::span<const std::int32_t> cls, Index classes, ConstVectorView weight, double norm);

  /// Numbers per row that fix the scores: 1, or K-1.
  Index outputs() const { return basis_.cols(); }
  /// Numbers per row that fix the second derivative.
  Index curvature_size() const { return binary() ? 1 : basis_.rows(); }
  /// Q, K x outputs; in a binary problem (1).
  const Matrix& basis() const { return basis_; }

  /// Rows from `first` on: adds losses and margins, turns scores t into the loss's derivatives, writes the curvature.
  void evaluate(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const;
  /// Margins alone.
  void margins(Index first, ConstMatrixView t, LossSums& sums) const;
  /// t becomes the second derivative times t.
  void apply_curvature(Index first, ConstMatrixView curvature, MatrixView t) const;
  /// Entry (j, k) of every row's second derivative.
  Vector curvature_entry(Index first, ConstMatrixView curvature, Index j, Index k) const;

 private:
  bool binary() const { return basis_.rows() == 1; }
  void evaluate_binary(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const;
  void evaluate_softmax(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const;

  std::span<const std::int32_t> cls_;
  Vector factor_;  // a_n / A
  Matrix basis_;
};

}  // namespace ecotone
