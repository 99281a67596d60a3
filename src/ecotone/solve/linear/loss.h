#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "ecotone/base/index.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Sums over rows: the loss, and the margins of the true class over the others (classification only).
struct LossSums {
  double loss = 0;
  double min_margin = std::numeric_limits<double>::infinity();  ///< over weighted rows and other classes
  double max_margin = 0;                                        ///< maximum of the absolute values

  void add_margin(double margin) {
    min_margin = std::min(min_margin, margin);
    max_margin = std::max(max_margin, std::abs(margin));
  }
  void merge(const LossSums& other) {
    loss += other.loss;
    min_margin = std::min(min_margin, other.min_margin);
    max_margin = std::max(max_margin, other.max_margin);
  }
  template <class Archive>
  void archive(Archive& with) {
    with(loss, min_margin, max_margin);
  }
};

/// A convex loss (1/A) sum_n a_n loss_n(t_n) of the scores t_n of the rows.
///
/// The scores of a row are Q t with a basis Q, which is (1) for one score per row. For softmax Q is an orthonormal
/// basis of the vectors that sum to zero, so that K-1 values t determine the K scores and the penalty ||W||^2 is ||W
/// Q||^2; or it is the identity, for penalties that are defined only on the scores themselves.
class Loss {
 public:
  virtual ~Loss() = default;

  /// Values per row that determine the scores.
  Index outputs() const { return basis_.cols(); }
  /// Q
  const Matrix& basis() const { return basis_; }
  /// Values per row that determine the second derivative.
  virtual Index curvature_size() const { return 1; }
  /// The size of gradients when nothing is fitted: the unit in which convergence is measured.
  virtual double scale() const = 0;
  /// Scores t of the best constant prediction, or close to them: the start of the solvers.
  virtual Vector constant_scores() const = 0;
  /// Whether a risk without a penalty may decrease forever (separable classes).
  virtual bool separates() const = 0;

  /// Rows from `first` on: adds losses and margins, replaces the scores t by the derivatives of the loss, and writes
  /// the curvature unless that has no columns.
  virtual void evaluate(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const = 0;
  /// The derivative of the loss of one row: `t` holds its scores and receives the derivative. For stochastic steps.
  virtual void slope(Index row, Vector& t) const;
  /// Only the margins.
  virtual void margins(Index first, ConstMatrixView t, LossSums& sums) const = 0;
  /// Replaces t by the second derivative times t.
  virtual void apply_curvature(Index first, ConstMatrixView curvature, MatrixView t) const;
  /// Entry (j, k) of the second derivative of every row.
  virtual Vector curvature_entry(Index first, ConstMatrixView curvature, Index j, Index k) const;

 protected:
  /// `weight` empty: all 1; `norm` is A.
  Loss(Index rows, ConstVectorView weight, double norm, Matrix basis);

  /// a_n / A
  const Vector& factor() const { return factor_; }

 private:
  Vector factor_;
  Matrix basis_;
};

/// ln(1 + exp(-m)), m = y t with y = +1 for class 1 and -1 for class 0.
std::unique_ptr<Loss> logistic_loss(std::span<const std::int32_t> cls, ConstVectorView weight, double norm);
/// -ln Phi(m)
std::unique_ptr<Loss> probit_loss(std::span<const std::int32_t> cls, ConstVectorView weight, double norm);
/// -ln of the softmax probability of the class of the row (59.85); `full`: Q is the identity.
std::unique_ptr<Loss> softmax_loss(std::span<const std::int32_t> cls, Index classes, ConstVectorView weight,
                                   double norm, bool full);
/// exp(t) - y t
std::unique_ptr<Loss> poisson_loss(ConstVectorView y, ConstVectorView weight, double norm);
/// (y - t)^2 / 2
std::unique_ptr<Loss> squared_loss(ConstVectorView y, ConstVectorView weight, double norm);

/// 1 / (1 + exp(-score)) without overflow
double sigmoid(double score);

/// phi(m) / Phi(m), and that plus m, both to full relative accuracy; and -ln Phi(m).
struct ProbitTerms {
  double ratio = 0;
  double ratio_plus_m = 0;
  double loss = 0;
};
ProbitTerms probit_terms(double m);

}  // namespace ecotone
