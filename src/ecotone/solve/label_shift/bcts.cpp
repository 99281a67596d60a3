#include "ecotone/solve/label_shift/bcts.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/base/index.h"
#include "ecotone/linalg/small.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {
namespace {

constexpr double gradient_goal = 1e-12;
constexpr int most_bcts_steps = 200;
constexpr double firm_ridge = 1e-2;
/// A gradient may vanish because a minimum lies at infinity: there Newton's steps stay long.
constexpr double long_step = 1e-3;

void check_bcts_rows(ConstMatrixView probability, std::span<const std::int32_t> label, RowWeights weight,
                     const BctsOptions& options) {
  if (probability.rows() == 0) data_error("empty_data", "{}: there are no rows", options.who);
  if (std::ssize(label) != probability.rows() || (!weight.empty() && weight.size() != label.size()))
    data_error("shape_mismatch", "{}: {} labels and {} weights for {} rows", options.who, label.size(), weight.size(),
               probability.rows());
  if (!probability.allFinite()) data_error("non_finite", "{}: a probability is not finite", options.who);
  std::vector<bool> seen(at(probability.cols()), false);
  double sum = 0;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const double w = weight_at(weight, i);
    if (!std::isfinite(w)) data_error("non_finite", "{}: a weight is {}", options.who, w);
    if (w < 0) data_error("negative_weight", "{}: a weight is {}", options.who, w);
    if (w > 0) seen[at(label[i])] = true;
    sum += w;
  }
  if (!(sum > 0)) data_error("zero_weights", "{}: all weights are 0", options.who);
  if (std::ranges::count(seen, true) < 2)
    data_error("one_class", "{}: all rows are of one class, which says nothing about probabilities", options.who);
}

Matrix log_probabilities(ConstMatrixView probability) {
  Matrix result(probability.rows(), probability.cols());
  for (Index i = 0; i < result.rows(); ++i)
    for (Index k = 0; k < result.cols(); ++k) result(i, k) = std::log(std::max(probability(i, k), smallest_input));
  return result;
}

/// softmax(a l + b), the classes added in order wherever the row lies.
void softmax(const Eigen::Ref<const Eigen::RowVectorXd>& l, double a, const Vector& b,
             Eigen::Ref<Eigen::RowVectorXd> p) {
  double top = a * l[0] + b[0];
  for (Index k = 0; k < p.size(); ++k) {
    p[k] = a * l[k] + b[k];
    top = std::max(top, p[k]);
  }
  double sum = 0;
  for (Index k = 0; k < p.size(); ++k) sum += p[k] = std::exp(p[k] - top);
  for (Index k = 0; k < p.size(); ++k) p[k] /= sum;
}

/// Objective, gradient and curvature at (a, b); a is entry 0.
class BctsProblem {
 public:
  BctsProblem(ConstMatrixView probability, std::span<const std::int32_t> label, RowWeights weight,
              const BctsOptions& options)
      : log_p_(log_probabilities(probability)), label_(label), weight_(weight), options_(options) {
    total_ = total_weight(weight, label.size());
  }

  Index size() const { return options_.bias ? log_p_.cols() + 1 : 1; }
  Vector bias_of(const Vector& at_point) const {
    return options_.bias ? Vector(at_point.tail(log_p_.cols())) : Vector::Zero(log_p_.cols());
  }

  double log_loss(const Vector& at_point) const {
    const Vector b = bias_of(at_point);
    double sum = 0;
    for (Index i = 0; i < log_p_.rows(); ++i) {
      const double w = weight_at(weight_, at(i));
      if (w > 0) sum += w * row_loss(at_point[0], b, i);
    }
    return sum / total_;
  }

  double objective(const Vector& at_point) const {
    const double distance = (at_point[0] - 1) * (at_point[0] - 1) + bias_of(at_point).squaredNorm();
    return log_loss(at_point) + options_.ridge / 2 * distance;
  }

  void slopes(const Vector& at_point, Vector& gradient, Matrix& hessian) const {
    const Index classes = log_p_.cols();
    const Vector b = bias_of(at_point);
    gradient = Vector::Zero(size());
    hessian = Matrix::Zero(size(), size());
    Eigen::RowVectorXd p(classes);
    // d loss / d (a, b) = sum_k (p_k - y_k) (l_k, e_k), curvature the covariance of (l, e) under p
    for (Index i = 0; i < log_p_.rows(); ++i) {
      const double w = weight_at(weight_, at(i)) / total_;
      if (w == 0) continue;
      const auto l = log_p_.row(i);
      softmax(l, at_point[0], b, p);
      const double mean = p.dot(l);
      gradient[0] += w * (mean - l[label_[at(i)]]);
      double second = 0;
      for (Index k = 0; k < classes; ++k) second += p[k] * (l[k] - mean) * (l[k] - mean);
      hessian(0, 0) += w * second;
      if (!options_.bias) continue;
      for (Index k = 0; k < classes; ++k) {
        gradient[k + 1] += w * (p[k] - (k == label_[at(i)] ? 1 : 0));
        hessian(0, k + 1) += w * p[k] * (l[k] - mean);
        hessian(k + 1, k + 1) += w * p[k];
        for (Index j = 0; j < classes; ++j) hessian(k + 1, j + 1) -= w * p[k] * p[j];
      }
    }
    gradient[0] += options_.ridge * (at_point[0] - 1);
    hessian(0, 0) += options_.ridge;
    for (Index k = 1; k < size(); ++k) {
      gradient[k] += options_.ridge * at_point[k];
      hessian(k, k) += options_.ridge;
      hessian(k, 0) = hessian(0, k);
    }
    // A constant in b changes nothing, so its curvature is free: 1 keeps every step's sum of b at 0.
    if (options_.bias) hessian.bottomRightCorner(classes, classes).array() += 1;
  }

 private:
  Matrix log_p_;
  std::span<const std::int32_t> label_;
  RowWeights weight_;
  BctsOptions options_;
  double total_ = 0;

  /// -ln softmax(a l + b)[label]
  double row_loss(double a, const Vector& b, Index i) const {
    const auto l = log_p_.row(i);
    double top = a * l[0] + b[0];
    for (Index k = 1; k < l.size(); ++k) top = std::max(top, a * l[k] + b[k]);
    double sum = 0;
    for (Index k = 0; k < l.size(); ++k) sum += std::exp(a * l[k] + b[k] - top);
    const Index y = label_[at(i)];
    return std::log(sum) + top - (a * l[y] + b[y]);
  }
};

}  // namespace

Matrix Bcts::calibrated(ConstMatrixView probability) const {
  const Matrix l = log_probabilities(probability);
  Matrix result(l.rows(), l.cols());
  for (Index i = 0; i < l.rows(); ++i) softmax(l.row(i), a, bias, result.row(i));
  return result;
}

Bcts fit_bcts(ConstMatrixView probability, std::span<const std::int32_t> label, RowWeights weight,
              const BctsOptions& options) {
  check_bcts_rows(probability, label, weight, options);
  const BctsProblem problem(probability, label, weight, options);
  Vector point = Vector::Zero(problem.size());
  point[0] = 1;
  double value = problem.objective(point);
  bool converged = false;
  Vector gradient;
  Matrix hessian;
  for (int step = 0; step < most_bcts_steps && !converged; ++step) {
    problem.slopes(point, gradient, hessian);
    const std::optional<Matrix> solved = solve_definite(hessian, gradient);
    if (!solved) break;
    const Vector move = -solved->col(0);
    const double slope = gradient.dot(move);
    const bool flat = gradient.cwiseAbs().maxCoeff() <= gradient_goal;
    if (flat && options.ridge == 0 && move.cwiseAbs().maxCoeff() > long_step * (1 + point.cwiseAbs().maxCoeff())) break;
    converged = flat;
    double length = 1;
    double next = problem.objective(point + length * move);
    while (next > value + 1e-4 * length * slope && length > 1e-12) {
      length /= 2;
      next = problem.objective(point + length * move);
    }
    if (next >= value && !converged) {  // rounding: nothing is gained any more
      converged = gradient.cwiseAbs().maxCoeff() <= std::sqrt(gradient_goal);
      break;
    }
    point += length * move;
    value = next;
  }
  if (!converged && options.ridge == 0)
    data_error("separable",
               "{}: the probabilities separate the classes of these rows, so no temperature is best; use "
               "a ridge",
               options.who);
  return {point[0], problem.bias_of(point), problem.log_loss(point), converged};
}

double ridge_for(const std::vector<double>& weight, Index classes) {
  const double rows = effective_sample_size(Eigen::Map<const Vector>(weight.data(), std::ssize(weight)));
  return rows < 10 * (static_cast<double>(classes) + 1) ? firm_ridge : BctsOptions{}.ridge;
}

}  // namespace ecotone
