#include "ecotone/solve/ratios/joint.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/ratios/density_ratio.h"

namespace ecotone {
namespace {

/// ln(1 + e^{-m}) with its first two derivatives.
struct Logistic {
  double value;
  double slope;
  double curvature;

  explicit Logistic(double m) {
    const double e = std::exp(-std::abs(m));
    value = std::log1p(e) + std::max(-m, 0.0);
    slope = -(m > 0 ? e : 1.0) / (1 + e);
    curvature = e / ((1 + e) * (1 + e));
  }
};

/// J, its gradient and its Hessian (the lower triangle).
struct Expansion {
  double value = 0;
  Vector gradient;
  Matrix hessian;

  void merge(const Expansion& other) {
    value += other.value;
    gradient += other.gradient;
    hessian += other.hessian;
  }
};

/// The problem in coordinates of mean 0 and mean square 1. A point is (w, offset, v, domain offset); a constant column
/// keeps weights 0.
class Joint {
 public:
  Joint(const JointProblem& problem, const Context& context) : problem_(problem), context_(context) {
    const Index p = problem.x.cols();
    const auto rows = static_cast<double>(problem.x.rows());
    mean_ = column_sums([](double x, Index) { return x; }) / rows;
    scale_ = (column_sums([&](double x, Index j) { return (x - mean_[j]) * (x - mean_[j]); }) / rows).cwiseSqrt();
    penalty_ = Vector::Zero(size());
    for (Index j = 0; j < p; ++j) {
      if (!std::isfinite(scale_[j]))
        data_error("non_finite", "{}: the values of column '{}' are too large to be squared; divide them by a number",
                   problem.who, problem.x.name(j));
      if (scale_[j] == 0) continue;
      // l2 ||w||^2 and lam domain_l2 ||v||^2 of w = u / s
      penalty_[j] = problem.l2 / (scale_[j] * scale_[j]);
      penalty_[p + 1 + j] = problem.lam * problem.domain_l2 / (scale_[j] * scale_[j]);
    }
  }

  Index size() const { return 2 * (problem_.x.cols() + 1); }

  Vector point(const JointFit& fit) const {
    const Index p = scale_.size();
    Vector theta(size());
    theta << scale_.cwiseProduct(fit.weights), fit.offset + mean_.dot(fit.weights),
        scale_.cwiseProduct(fit.domain_weights), fit.domain_offset + mean_.dot(fit.domain_weights);
    for (Index j = 0; j < p; ++j) {
      if (scale_[j] == 0) theta[j] = theta[p + 1 + j] = 0;
    }
    if (!problem_.offset) theta[p] = 0;
    return theta;
  }

  void give(const Vector& theta, JointFit& fit) const {
    const Index p = scale_.size();
    fit.weights = given(theta.head(p));
    fit.offset = problem_.offset ? theta[p] - mean_.dot(fit.weights) : 0;
    fit.domain_weights = given(theta.segment(p + 1, p));
    fit.domain_offset = theta[2 * p + 1] - mean_.dot(fit.domain_weights);
  }

  /// J at a point; with gradient and Hessian if `whole`.
  Expansion at(const Vector& theta, bool whole) const {
    Expansion zero{0, Vector::Zero(whole ? size() : 0), Matrix::Zero(whole ? size() : 0, whole ? size() : 0)};
    Expansion sum = sum_blocks(problem_.x.blocks(), context_, zero,
                               [&](Expansion& part, Index b) { add_block(theta, b, whole, part); });
    sum.value += penalty_.dot(theta.cwiseAbs2());
    if (!whole) return sum;
    sum.gradient += 2 * penalty_.cwiseProduct(theta);
    sum.hessian.diagonal() += 2 * penalty_;
    for (Index j = 0; j < size(); ++j) {
      if (!is_fixed(j)) continue;
      sum.gradient[j] = 0;
      sum.hessian.row(j).setZero();
      sum.hessian.col(j).setZero();
      sum.hessian(j, j) = 1;
    }
    return sum;
  }

 private:
  const JointProblem& problem_;
  const Context& context_;
  Vector mean_;
  Vector scale_;
  Vector penalty_;

  template <class Term>
  Vector column_sums(const Term& term) const {
    const Features& x = problem_.x;
    return sum_blocks(x.blocks(), context_, Vector(Vector::Zero(x.cols())), [&](Vector& sum, Index b) {
      Scratch scratch;
      const RowBlock block = x.block(b, scratch);
      for (Index i = 0; i < block.x.rows(); ++i) {
        for (Index j = 0; j < block.x.cols(); ++j) sum[j] += term(block.x(i, j), j);
      }
    });
  }

  Vector given(const Vector& u) const {
    Vector w = Vector::Zero(u.size());
    for (Index j = 0; j < u.size(); ++j) {
      if (scale_[j] != 0) w[j] = u[j] / scale_[j];
    }
    return w;
  }

  /// Coordinates that stay 0.
  bool is_fixed(Index j) const {
    const Index p = scale_.size();
    return (j == p && !problem_.offset) || (j % (p + 1) != p && scale_[j % (p + 1)] == 0);
  }

  /// Rows of block b followed by a column of ones, standardised. A score without an offset has no constant, so its
  /// columns are not centred.
  Matrix design(const RowBlock& block, bool centred) const {
    const Index p = scale_.size();
    Matrix a(block.x.rows(), p + 1);
    for (Index i = 0; i < a.rows(); ++i) {
      for (Index j = 0; j < p; ++j) {
        a(i, j) = scale_[j] == 0 ? 0.0 : (block.x(i, j) - (centred ? mean_[j] : 0.0)) / scale_[j];
      }
      a(i, p) = 1;
    }
    return a;
  }

  void add_block(const Vector& theta, Index b, bool whole, Expansion& sum) const {
    Scratch scratch;
    const RowBlock block = problem_.x.block(b, scratch);
    const Index q = scale_.size() + 1;
    const Matrix label = design(block, problem_.offset);
    const Matrix domain = problem_.offset ? label : design(block, true);
    const Vector z = label * theta.head(q);
    const Vector s = domain * theta.tail(q);
    const auto all = static_cast<double>(problem_.x.rows());
    const auto targets = static_cast<double>(problem_.x.rows() - problem_.sources);
    Matrix d(block.x.rows(), 5);  // dJ/dz, dJ/ds and the second derivatives zz, zs, ss of each row
    for (Index i = 0; i < block.x.rows(); ++i) {
      const Index row = block.first + i;
      const double sigma = row < problem_.sources ? 1 : -1;
      const Logistic side(sigma * s[i]);
      const double part = problem_.lam / all;
      sum.value += part * side.value;
      d.row(i) << 0, part * sigma * side.slope, 0, 0, part * side.curvature;
      if (row >= problem_.sources) continue;
      const double y = problem_.cls[static_cast<std::size_t>(row)] == 1 ? 1 : -1;
      const Logistic loss(y * z[i]);
      const double a = (problem_.weight.size() == 0 ? 1.0 : problem_.weight[row]) * std::exp(-s[i]) / targets;
      if (a == 0) continue;
      sum.value += a * loss.value;
      d(i, 0) += a * y * loss.slope;
      d(i, 1) -= a * loss.value;
      d(i, 2) += a * loss.curvature;
      d(i, 3) -= a * y * loss.slope;
      d(i, 4) += a * loss.value;
    }
    if (whole) add_derivatives(label, domain, d, sum);
  }

  static void add_derivatives(const Matrix& label, const Matrix& domain, const Matrix& d, Expansion& sum) {
    const Index q = label.cols();
    sum.gradient.head(q) += label.transpose() * d.col(0);
    sum.gradient.tail(q) += domain.transpose() * d.col(1);
    add_gram(d.col(2).cwiseSqrt().asDiagonal() * label, sum.hessian.topLeftCorner(q, q));
    add_gram(d.col(4).cwiseSqrt().asDiagonal() * domain, sum.hessian.bottomRightCorner(q, q));
    sum.hessian.bottomLeftCorner(q, q) += domain.transpose() * (d.col(3).asDiagonal() * label);
  }
};

/// The solution of (H + m I) step = -gradient with the smallest tried m >= 0 that makes it positive definite.
Vector newton_step(const Expansion& here, const Context& context) {
  const double size = here.hessian.diagonal().cwiseAbs().maxCoeff();
  for (double shift = 0;; shift = std::max(10 * shift, 1e-10 * size)) {
    Matrix shifted = here.hessian;
    shifted.diagonal().array() += shift;
    const std::optional<Cholesky> factor = Cholesky::factor(std::move(shifted), context);
    if (factor) return factor->solve(Vector(-here.gradient), context);
    if (!(shift < 1e6 * size)) internal_error("adapt.joint: no shift makes the Hessian positive definite");
  }
}

void minimise(const Joint& joint, Vector theta, int max_iterations, JointFit& fit, const Context& context) {
  constexpr double flat = 1e-13;  // gradient that is rounding alone
  constexpr double small = 1e-9;  // predicted decrease below which values of J cannot be compared
  Expansion here = joint.at(theta, true);
  const auto norm = [](const Expansion& e) { return e.gradient.cwiseAbs().maxCoeff(); };
  while (fit.iterations < max_iterations && norm(here) > flat) {
    context.check_cancelled();
    ++fit.iterations;
    const Vector step = newton_step(here, context);
    const double slope = here.gradient.dot(step);
    if (-slope < small * (1e-3 + std::abs(here.value))) {
      // This close, only the gradient tells whether a step helps.
      const Vector next = theta + step;
      Expansion there = joint.at(next, true);
      if (!(norm(there) < norm(here))) break;
      theta = next;
      here = std::move(there);
      continue;
    }
    double length = 1;
    while (length > 1e-12 && !(joint.at(theta + length * step, false).value <= here.value + 1e-4 * length * slope))
      length /= 2;
    if (length <= 1e-12) break;
    theta += length * step;
    here = joint.at(theta, true);
  }
  fit.risk = here.value;
  fit.gradient = norm(here);
  fit.converged = fit.gradient < 1e-9;
  joint.give(theta, fit);
}

/// v alone, then w with the weights given by v.
JointFit two_stage(const JointProblem& problem, const Context& context) {
  const RatioFit ratio =
      logistic_ratio(problem.x, problem.sources, {.l2 = problem.domain_l2, .who = problem.who}, context);
  Vector weight = ratio.log_weight.array().exp();
  if (problem.weight.size() > 0) weight.array() *= problem.weight.array();
  if (!weight.allFinite()) {
    data_error("non_finite", "{}: the domains are so far apart that the weights overflow; use a larger domain_l2",
               problem.who);
  }
  const LinearFit label = fit_linear({.x = problem.x.head(problem.sources),
                                      .cls = problem.cls,
                                      .weight = weight,
                                      .l2 = problem.l2,
                                      .offset = problem.offset,
                                      .who = problem.who},
                                     context);
  JointFit fit;
  fit.weights = label.weights.row(0);
  fit.offset = label.offset[0];
  fit.domain_weights = ratio.classifier.weights.row(0);
  fit.domain_offset = ratio.classifier.offset[0];
  return fit;
}

}  // namespace

JointFit fit_joint(const JointProblem& problem, const Context& context) {
  prepare_blas();
  const auto q = static_cast<std::size_t>(2 * (problem.x.cols() + 1));
  // The Hessian of each partial sum that is alive, its shifted copy and the factor.
  require_memory((static_cast<std::size_t>(context.threads()) + 9) * q * q * sizeof(double), problem.who, "the Hessian",
                 "use fewer columns");
  JointFit fit = two_stage(problem, context);
  const Joint joint(problem, context);
  minimise(joint, joint.point(fit), problem.max_iterations, fit, context);
  const double shift =
      std::log(static_cast<double>(problem.sources) / static_cast<double>(problem.x.rows() - problem.sources));
  Matrix s(problem.sources, 1);
  const Features source = problem.x.head(problem.sources);
  const Matrix v = fit.domain_weights;
  context.parallel(source.blocks(),
                   [&](Index b) { source.multiply(b, v, s.middleRows(source.first_row(b), source.rows_in(b))); });
  fit.log_weight = shift - fit.domain_offset - s.col(0).array();
  return fit;
}

}  // namespace ecotone
