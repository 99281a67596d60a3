#include "ecotone/solve/label_shift/class_shares.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/base/index.h"
#include "ecotone/linalg/small.h"
#include "ecotone/measure/row_weights.h"
#include "ecotone/solve/paths/nonnegative.h"

namespace ecotone {
namespace {

constexpr double largest_condition = 1e3;

/// p_ij / pi_j
Matrix likelihoods(ConstMatrixView target, const Vector& source_share) {
  if (target.rows() == 0) data_error("empty_data", "label shift: the target has no rows");
  if (target.cols() != source_share.size())
    data_error("shape_mismatch", "label shift: {} shares for {} classes", source_share.size(), target.cols());
  if (!target.allFinite() || !source_share.allFinite())
    data_error("non_finite", "label shift: a probability is not finite");
  if (!(source_share.array() > 0).all())
    data_error("zero_prior", "label shift: a class has no share in the sources, so its share here cannot be found");
  return target.array().rowwise() / source_share.transpose().array();
}

/// The root of the diagonal of the inverse of U'U on the simplex, u_ij = l_ij / sum_l q_l l_il; NaN if it is singular.
Vector share_errors(const Matrix& likelihood, const Vector& share) {
  const Index classes = share.size();
  const Vector mixed = likelihood * share;
  const Matrix u = likelihood.array().colwise() / mixed.array();
  // The last class is what the others leave: q = D f + e_last with D = (I; -1').
  Matrix d = Matrix::Zero(classes, classes - 1);
  d.topRows(classes - 1).setIdentity();
  d.bottomRows(1).setConstant(-1);
  const Matrix free = u * d;
  const std::optional<Matrix> inverse = solve_definite(free.transpose() * free, d.transpose(), 1e-12);
  if (!inverse) return Vector::Constant(classes, std::numeric_limits<double>::quiet_NaN());
  return (d * *inverse).diagonal().cwiseMax(0).cwiseSqrt();
}

}  // namespace

ClassShares em_shares(ConstMatrixView target, const Vector& source_share, const EmOptions& options) {
  const Matrix likelihood = likelihoods(target, source_share);
  const auto rows = static_cast<double>(likelihood.rows());
  ClassShares result;
  result.share = source_share / source_share.sum();
  while (result.steps < options.most_steps && !result.converged) {
    const Vector mixed = likelihood * result.share;
    if (!(mixed.array() > 0).all())
      data_error("non_finite", "label shift: a row of the target has no probability of any class");
    const Vector mean = likelihood.transpose() * mixed.cwiseInverse() / rows;
    const Vector next = result.share.cwiseProduct(mean);
    result.converged = (next - result.share).cwiseAbs().maxCoeff() < options.tolerance;
    result.share = next;
    ++result.steps;
  }
  result.weight = result.share.cwiseQuotient(source_share / source_share.sum());
  result.standard_error = share_errors(likelihood, result.share);
  return result;
}

Matrix reweighted(ConstMatrixView probability, const Vector& weight) {
  Matrix result(probability.rows(), probability.cols());
  for (Index i = 0; i < result.rows(); ++i) {
    double sum = 0;
    for (Index k = 0; k < result.cols(); ++k) sum += result(i, k) = probability(i, k) * weight[k];
    if (sum > 0) {
      for (Index k = 0; k < result.cols(); ++k) result(i, k) /= sum;
    } else {
      result.row(i) = probability.row(i);  // only classes that the target does not have
    }
  }
  return result;
}

Matrix confusion_shares(ConstMatrixView probability, std::span<const std::int32_t> predicted,
                        std::span<const std::int32_t> label, std::span<const double> weight, bool soft) {
  const Index classes = probability.cols();
  Matrix confusion = Matrix::Zero(classes, classes);
  double total = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const double w = weight_at(weight, i);
    total += w;
    if (soft)
      confusion.col(label[i]) += w * probability.row(static_cast<Index>(i)).transpose();
    else
      confusion(predicted[i], label[i]) += w;
  }
  return confusion / total;
}

Vector predicted_shares(ConstMatrixView probability, std::span<const std::int32_t> predicted, bool soft) {
  if (soft) return probability.colwise().mean();
  Vector shares = Vector::Zero(probability.cols());
  for (const std::int32_t k : predicted) shares[k] += 1;
  return shares / static_cast<double>(predicted.size());
}

Vector ShareWeights::shares(const Vector& source_share) const {
  const Vector product = weight.cwiseProduct(source_share);
  return product / product.sum();
}

ShareWeights bbse(const Matrix& confusion, const Vector& predicted_target) {
  const Vector values = singular_values(confusion);
  if (!(values.minCoeff() * largest_condition >= values.maxCoeff()))
    data_error("singular_confusion",
               "label shift: the model predicts some classes like others, so their shares cannot be told apart; use "
               "method=em");
  ShareWeights result;
  result.raw = solve_square(confusion, predicted_target);
  result.weight = result.raw.cwiseMax(0);
  return result;
}

namespace {

/// theta >= -1 of least |C theta - d|^2 + m |theta|^2, as w = 1 + theta >= 0.
class RidgedWeights {
 public:
  RidgedWeights(const Matrix& c, Vector d) : gram_(c.transpose() * c), d_(std::move(d)) {
    right_ = c.transpose() * (d_ + c * Vector::Ones(c.cols()));
  }

  Vector theta(double m) const {
    const Index classes = gram_.rows();
    const Matrix gram = gram_ + m * Matrix::Identity(classes, classes);
    return nonnegative_least_squares(gram, right_ + m * Vector::Ones(classes)) - Vector::Ones(classes);
  }

 private:
  Matrix gram_;
  Vector d_;
  Vector right_;
};

}  // namespace

PenalisedWeights rlls(const Matrix& confusion, const Vector& predicted_target, const Vector& predicted_source,
                      Index rows, double alpha) {
  const auto n = static_cast<double>(rows);
  const double log_term = 2 * std::log(2 * static_cast<double>(confusion.cols()) / 0.05);
  PenalisedWeights result;
  result.rho = 3 * (log_term / (3 * n) + std::sqrt(log_term / n));
  const double penalty = alpha * result.rho;
  const Vector d = predicted_target - predicted_source;
  const RidgedWeights ridged(confusion, d);
  const auto objective = [&](const Vector& theta) { return (confusion * theta - d).norm() + penalty * theta.norm(); };
  Vector best = Vector::Zero(confusion.cols());
  result.objective = objective(best);
  const auto consider = [&](const Vector& theta) {
    const double value = objective(theta);
    if (value >= result.objective) return;
    result.objective = value;
    best = theta;
  };
  consider(ridged.theta(0));
  // The least of norms is the least of squares for some m: lengths of residual and theta trade against each other, so
  // the objective falls and then rises along ln m.
  double low = -40, high = 10;
  const double golden = (std::sqrt(5.0) - 1) / 2;
  const auto value_at = [&](double log_m) { return objective(ridged.theta(std::exp(log_m))); };
  double left = high - golden * (high - low), right = low + golden * (high - low);
  double at_left = value_at(left), at_right = value_at(right);
  while (high - low > 1e-9) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - golden * (high - low);
      at_left = value_at(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + golden * (high - low);
      at_right = value_at(right);
    }
  }
  consider(ridged.theta(std::exp((low + high) / 2)));
  result.weight = best.array() + 1;
  return result;
}

}  // namespace ecotone
