#include "ecotone/solve/logistic_loss.h"

#include <cmath>

namespace ecotone {
namespace {

using Array = Eigen::ArrayXd;

/// Helmert's orthonormal basis of the vectors that sum to zero.
Matrix zero_sum_basis(Index classes) {
  Matrix q = Matrix::Zero(classes, classes - 1);
  for (Index j = 0; j + 1 < classes; ++j) {
    const auto size = static_cast<double>(j + 1);
    const double unit = 1.0 / std::sqrt(size * (size + 1.0));
    q.col(j).head(j + 1).setConstant(unit);
    q(j + 1, j) = -size * unit;
  }
  return q;
}

/// ln(1 + e) for 0 <= e <= 1 to full relative accuracy: ln(u) e / (u - 1) with u the rounded 1 + e.
Array log_one_plus(const Array& e) {
  const Array u = 1.0 + e;
  return (u == 1.0).select(e, u.log() * e / (u - 1.0).max(1e-300));
}

void add_margin(double margin, LossSums& sums) {
  sums.min_margin = std::min(sums.min_margin, margin);
  sums.max_margin = std::max(sums.max_margin, std::abs(margin));
}

}  // namespace

LogisticLoss::LogisticLoss(std::span<const std::int32_t> cls, Index classes, ConstVectorView weight, double norm)
    : cls_(cls), basis_(classes == 2 ? Matrix(Matrix::Ones(1, 1)) : zero_sum_basis(classes)) {
  const auto rows = static_cast<Index>(cls.size());
  factor_ = weight.size() == 0 ? Vector(Vector::Constant(rows, 1.0 / norm)) : Vector(weight / norm);
}

void LogisticLoss::evaluate(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const {
  if (binary()) {
    evaluate_binary(first, t, curvature, sums);
  } else {
    evaluate_softmax(first, t, curvature, sums);
  }
}

void LogisticLoss::evaluate_binary(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const {
  const Index rows = t.rows();
  Array sign(rows);
  for (Index i = 0; i < rows; ++i) sign[i] = cls_[static_cast<std::size_t>(first + i)] == 1 ? 1.0 : -1.0;
  const Array factor = factor_.segment(first, rows);
  const Array margin = sign * t.col(0).array();
  const Array e = (-margin.abs()).exp();
  const Array u = 1.0 + e;
  // ln(1 + exp(-m)) = ln(1 + exp(-|m|)) + max(-m, 0)
  sums.loss += (factor * (log_one_plus(e) + (-margin).max(0.0))).sum();
  // d loss / dm = -1 / (1 + exp(m)), d2 = exp(-|m|) / (1 + exp(-|m|))^2
  t.col(0) = -sign * factor * (margin >= 0.0).select(e, 1.0) / u;
  curvature.col(0) = factor * e / u.square();
  for (Index i = 0; i < rows; ++i) {
    if (factor[i] > 0) add_margin(margin[i], sums);
  }
}

void LogisticLoss::evaluate_softmax(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const {
  const Index rows = t.rows();
  Matrix scores = t * basis_.transpose();
  const Vector largest = scores.rowwise().maxCoeff();
  const Matrix e = (scores.colwise() - largest).array().exp();
  for (Index i = 0; i < rows; ++i) {
    const Index y = cls_[static_cast<std::size_t>(first + i)];
    const double factor = factor_[first + i];
    double others = 0;
    for (Index k = 0; k < e.cols(); ++k) {
      if (k == y) continue;
      others += e(i, k);
      if (factor > 0) add_margin(scores(i, y) - scores(i, k), sums);
    }
    // -ln p_y; when class y leads, ln(1 + sum of the others) keeps small losses exact.
    const double lead = largest[i] - scores(i, y);
    sums.loss += factor * (lead == 0 ? std::log1p(others) : std::log(others + e(i, y)) + lead);
    const double total = others + e(i, y);
    curvature.row(i) = e.row(i) / total;
    // d loss / d scores = p - 1_y; 1 - p_y is the sum of the others.
    scores.row(i) = factor * curvature.row(i);
    scores(i, y) = -factor * others / total;
  }
  t.noalias() = scores * basis_;
}

void LogisticLoss::margins(Index first, ConstMatrixView t, LossSums& sums) const {
  const Matrix scores = binary() ? Matrix(t) : Matrix(t * basis_.transpose());
  for (Index i = 0; i < t.rows(); ++i) {
    if (factor_[first + i] == 0) continue;
    const Index y = cls_[static_cast<std::size_t>(first + i)];
    if (binary()) {
      add_margin(y == 1 ? scores(i, 0) : -scores(i, 0), sums);
      continue;
    }
    for (Index k = 0; k < scores.cols(); ++k) {
      if (k != y) add_margin(scores(i, y) - scores(i, k), sums);
    }
  }
}

void LogisticLoss::apply_curvature(Index first, ConstMatrixView curvature, MatrixView t) const {
  if (binary()) {
    t.col(0).array() *= curvature.col(0).array();
    return;
  }
  // (diag(p) - p p') s = p o (s - p's)
  Matrix scores = t * basis_.transpose();
  const Vector mean = scores.cwiseProduct(curvature).rowwise().sum();
  scores = factor_.segment(first, t.rows()).asDiagonal() * (scores.colwise() - mean).cwiseProduct(curvature);
  t.noalias() = scores * basis_;
}

Vector LogisticLoss::curvature_entry(Index first, ConstMatrixView curvature, Index j, Index k) const {
  if (binary()) return curvature.col(0);
  // q_j' (diag(p) - p p') q_k as a covariance: exact also where one class has nearly all the probability.
  const Vector mean_j = curvature * basis_.col(j);
  const Vector mean_k = curvature * basis_.col(k);
  Vector entry(curvature.rows());
  for (Index i = 0; i < curvature.rows(); ++i) {
    double sum = 0;
    for (Index c = 0; c < curvature.cols(); ++c)
      sum += curvature(i, c) * (basis_(c, j) - mean_j[i]) * (basis_(c, k) - mean_k[i]);
    entry[i] = factor_[first + i] * sum;
  }
  return entry;
}

}  // namespace ecotone
