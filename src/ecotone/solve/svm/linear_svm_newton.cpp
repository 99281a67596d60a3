#include "ecotone/solve/svm/linear_svm_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/svm/smooth_loss.h"

namespace ecotone {
namespace {

/// Sums over the rows at one point and one width.
struct NewtonSums {
  double loss = 0;          ///< without smoothing
  double between = 0;       ///< the gap between primal and dual left by smoothing
  double mass[2] = {0, 0};  ///< sum of |beta| where beta > 0, and where beta < 0
  double gain[2] = {0, 0};  ///< sum of y beta, the same way
  Matrix side;              ///< p x 2: sum of beta (x - shift), the same way
  Matrix hessian;           ///< p x p, lower: sum of d (x - shift)(x - shift)', d the curvature
  Vector slope;             ///< p: sum of d (x - shift)
  double curvature = 0;     ///< sum of d
  Index support = 0;
  Index bounded = 0;

  explicit NewtonSums(Index p) : side(Matrix::Zero(p, 2)), hessian(Matrix::Zero(p, p)), slope(Vector::Zero(p)) {}

  void merge(const NewtonSums& other) {
    loss += other.loss;
    between += other.between;
    for (const int s : {0, 1}) {
      mass[s] += other.mass[s];
      gain[s] += other.gain[s];
    }
    side += other.side;
    hessian += other.hessian;
    slope += other.slope;
    curvature += other.curvature;
    support += other.support;
    bounded += other.bounded;
  }
  template <class Archive>
  void archive(Archive& with) {
    with(loss, between, mass[0], mass[1], gain[0], gain[1], side, hessian, slope, curvature, support, bounded);
  }
};

/// Sums over the rows along a direction.
struct Line {
  double slope = 0;
  double curvature = 0;
  void merge(const Line& other) {
    slope += other.slope;
    curvature += other.curvature;
  }
  template <class Archive>
  void archive(Archive& with) {
    with(slope, curvature);
  }
};

/// The coefficients of one block of rows.
struct BlockTerms {
  Matrix beta;               // rows x 2, by sign
  std::vector<Index> near;   // rows within h of a kink
  std::vector<double> root;  // sqrt(d) of these

  BlockTerms(const LinearSvmRows& rows, const Vector& score, double h, Index first, Index count, NewtonSums& sums)
      : beta(Matrix::Zero(count, 2)) {
    for (Index i = 0; i < count; ++i) {
      const double y = rows.y[first + i], cost = rows.cost[first + i];
      if (!(cost > 0)) continue;
      const SmoothSvmLoss at(rows.kind, y, score[first + i], rows.epsilon, h);
      sums.loss += cost * at.loss;
      sums.between += cost * at.between;
      if (at.curvature > 0) {
        near.push_back(i);
        root.push_back(std::sqrt(cost * at.curvature));
      }
      if (at.beta == 0) continue;
      const int sign = at.beta > 0 ? 0 : 1;
      beta(i, sign) = cost * at.beta;
      sums.mass[sign] += cost * std::abs(at.beta);
      sums.gain[sign] += cost * y * at.beta;
      ++sums.support;
      if (std::abs(at.beta) == 1) ++sums.bounded;
    }
  }
};

class Machine {
 public:
  Machine(const LinearSvmRows& rows, const Context& context) : rows_(rows), context_(context) {}

  /// weights.(x - shift) of the rows of this rank, 0 of others, whose sums other ranks make.
  Vector scores(const Vector& weights) const {
    const Features& x = rows_.x;
    Vector result = Vector::Zero(x.rows());
    const double moved = rows_.shift.dot(weights);
    const Matrix w = weights;
    each_row_block(x.blocks(), context_, [&](Index b) {
      Matrix out(x.rows_in(b), 1);
      x.multiply(b, w, out);
      result.segment(x.first_row(b), out.rows()) = out.col(0).array() - moved;
    });
    return result;
  }

  NewtonSums sums(const Vector& score, double h) const {
    const Features& x = rows_.x;
    return sum_rows(x.blocks(), context_, NewtonSums(x.cols()),
                    [&](NewtonSums& sums, Index b) { add(score, h, b, sums); });
  }

  /// Slope and curvature of the smoothed objective at `step` along a direction, from the scores alone.
  std::pair<double, double> along(const Vector& score, const Vector& direction, double h, double step) const {
    const Features& x = rows_.x;
    const Line line = sum_rows(x.blocks(), context_, Line{}, [&](Line& sum, Index b) {
      const Index first = x.first_row(b), last = first + x.rows_in(b);
      for (Index i = first; i < last; ++i) {
        const double d = direction[i];
        const SmoothSvmLoss at(rows_.kind, rows_.y[i], score[i] + step * d, rows_.epsilon, h);
        sum.slope -= rows_.cost[i] * at.beta * d;
        sum.curvature += rows_.cost[i] * at.curvature * d * d;
      }
    });
    return {line.slope, line.curvature};
  }

 private:
  const LinearSvmRows& rows_;
  const Context& context_;

  void add(const Vector& score, double h, Index b, NewtonSums& sums) const {
    const Features& x = rows_.x;
    const Index first = x.first_row(b), count = x.rows_in(b);
    const BlockTerms terms(rows_, score, h, first, count, sums);
    Scratch scratch;
    const bool sparse = x.is_sparse();
    if (sparse) x.multiply_transposed(b, terms.beta, sums.side);
    for (const int s : {0, 1}) sums.side.col(s) -= terms.beta.col(s).sum() * rows_.shift;
    if (sparse && terms.near.empty()) return;
    const RowBlock block = x.block(b, scratch);
    if (!sparse) add_transpose_product(block.x, terms.beta, sums.side);
    // sqrt(d) (x - shift) of the rows near a kink
    const auto near = std::ssize(terms.near);
    Matrix z(near, x.cols());
    for (Index k = 0; k < near; ++k) {
      const double root = terms.root[at(k)];
      z.row(k) = root * (block.x.row(terms.near[at(k)]) - rows_.shift.transpose());
      sums.slope += root * z.row(k).transpose();
      sums.curvature += root * root;
    }
    if (near > 0) add_gram(z, sums.hessian);
  }
};

/// The largest dual objective with the heavier sign scaled down so that the coefficients sum to 0: y'b - epsilon
/// ||b||_1 - 1/2 ||X'b||^2.
double dual_objective(const NewtonSums& sums, double epsilon) {
  if (sums.mass[0] == 0 || sums.mass[1] == 0) return 0;
  const double scale[2] = {std::min(1.0, sums.mass[1] / sums.mass[0]), std::min(1.0, sums.mass[0] / sums.mass[1])};
  const Vector both = scale[0] * sums.side.col(0) + scale[1] * sums.side.col(1);
  double gain = 0;
  for (const int s : {0, 1}) gain += scale[s] * (sums.gain[s] - epsilon * sums.mass[s]);
  // Any multiple in [0, 1] is feasible too: the best of t gain - t^2/2 ||u||^2.
  const double squared = both.squaredNorm();
  const double t = squared > 0 ? std::clamp(gain / squared, 0.0, 1.0) : gain > 0 ? 1.0 : 0.0;
  return t * gain - t * t * squared / 2;
}

/// A direction of weights and offset.
struct Direction {
  Vector weights;
  double offset = 0;
};

/// Newton's direction at a point: with q = X'd, D = sum of d, S = I + X'dX - q q'/D,
/// S dw = -g_w + q g_b / D, db = -(g_b + q.dw) / D.
Direction newton_direction(const LinearSvmPoint& point, const NewtonSums& sums, const Context& context) {
  const Vector g = point.weights - sums.side.col(0) - sums.side.col(1);
  const double g_offset = sums.mass[1] - sums.mass[0];
  const double all = sums.curvature;
  // No row is near a kink: the loss is linear here, and only the offset must reach rows.
  if (!(all > 0))
    return g_offset != 0 ? Direction{Vector::Zero(g.size()), -g_offset / std::abs(g_offset)} : Direction{-g, 0};
  Matrix s = sums.hessian;
  s.triangularView<Eigen::Lower>() -= sums.slope * sums.slope.transpose() / all;
  const double largest = std::max(1.0, s.diagonal().maxCoeff());
  s.diagonal().array() += 1;
  std::optional<Cholesky> factor = Cholesky::factor(s, context);
  for (double more = 1e-15 * largest; !factor && more < largest; more *= 10) {
    s.diagonal().array() += more;
    factor = Cholesky::factor(s, context);
  }
  if (!factor) return {-g, -g_offset / all};
  Direction d{factor->solve(Vector(sums.slope * (g_offset / all) - g), context), 0};
  d.offset = -(g_offset + sums.slope.dot(d.weights)) / all;
  return d;
}

/// The step along a direction at which the slope of the smoothed objective is 0: Newton's method within a bracket. The
/// slope is piecewise linear, so a few evaluations find it.
double best_step(const Machine& machine, const LinearSvmPoint& point, const Direction& d, const Vector& score,
                 const Vector& change) {
  const double linear = point.weights.dot(d.weights), squared = d.weights.squaredNorm();
  const auto slope_at = [&](double step) {
    const auto loss = machine.along(score, change, point.width, step);
    return std::pair{loss.first + linear + step * squared, loss.second + squared};
  };
  const double begin = slope_at(0).first;
  if (!(begin < 0)) return 0;
  double low = 0, high = std::numeric_limits<double>::infinity(), step = 1;
  for (int round = 0; round < 60; ++round) {
    const auto [slope, curvature] = slope_at(step);
    if (std::abs(slope) <= 1e-3 * -begin) return step;
    (slope < 0 ? low : high) = step;
    double next = curvature > 0 ? step - slope / curvature : std::numeric_limits<double>::infinity();
    if (!(next > low)) next = std::isfinite(high) ? (low + high) / 2 : 2 * step;
    if (std::isfinite(high) && !(next < high)) next = (low + high) / 2;
    step = std::isfinite(high) ? next : std::min(next, 8 * step);
  }
  return low;
}

}  // namespace

LinearSvmSolution newton_linear_svm(const LinearSvmRows& rows, const LinearSvmPoint& start, double tolerance,
                                    Index most_iterations, const Context& context) {
  const Machine machine(rows, context);
  LinearSvmPoint point = start;
  Vector score = machine.scores(point.weights).array() + point.offset;
  LinearSvmSolution best{.point = start, .primal = std::numeric_limits<double>::infinity()};
  // No gap is required below the rounding of the loss of a constant.
  const double floor = 1e-13 * rows.cost.dot(rows.y.cwiseAbs());
  const double narrowest = 1e-12 * start.width;
  for (;;) {
    context.check_cancelled();
    const NewtonSums sums = machine.sums(score, point.width);
    const double primal = point.weights.squaredNorm() / 2 + sums.loss;
    const double dual = dual_objective(sums, rows.epsilon);
    if (primal < best.primal) {
      best.primal = primal;
      best.point = point;
      best.support = sums.support;
      best.bounded = sums.bounded;
    }
    best.dual = std::max(best.dual, dual);
    best.point.width = point.width;
    best.converged = best.primal - best.dual <= std::max(tolerance * best.primal, floor);
    if (best.converged || best.iterations >= most_iterations) return best;
    // gap = gap of the smoothed problem + between: once smoothing dominates, reduce it. It falls with h^2.
    const double asked = tolerance * best.primal / 2;
    if (primal - dual <= 1.5 * sums.between && point.width > narrowest) {
      point.width *= std::clamp(std::sqrt(asked / sums.between), 0.1, 0.6);
      continue;
    }
    const Direction d = newton_direction(point, sums, context);
    const Vector change = machine.scores(d.weights).array() + d.offset;
    const double step = best_step(machine, point, d, score, change);
    if (!(step > 0)) {
      // Only rounding is left at this width.
      if (!(point.width > narrowest)) return best;
      point.width *= 0.3;
      ++best.iterations;
      continue;
    }
    point.weights += step * d.weights;
    point.offset += step * d.offset;
    score += step * change;
    ++best.iterations;
  }
}

}  // namespace ecotone
