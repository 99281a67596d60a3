#include "ecotone/solve/linear/checks.h"

#include <cmath>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/pool.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/linear/prox_newton.h"

namespace ecotone {
namespace {

struct GradientAndLoss {
  Matrix gradient;
  LossSums loss;
  void merge(const GradientAndLoss& other) {
    gradient += other.gradient;
    loss.merge(other.loss);
  }
  template <class Archive>
  void archive(Archive& with) {
    with(gradient, loss);
  }
};

double weight_of(const LinearProblem& problem, Index row) {
  return problem.weight.size() == 0 ? 1.0 : problem.weight[row];
}

void check_sizes(const LinearProblem& problem) {
  const Index rows = problem.x.rows();
  const std::size_t labels = learns_classes(problem.family) ? problem.cls.size() : problem.value.size();
  if (static_cast<Index>(labels) != rows)
    data_error("shape_mismatch", "{}: {} labels for {} rows", problem.who, labels, rows);
  if (problem.weight.size() != 0 && problem.weight.size() != rows)
    data_error("shape_mismatch", "{}: {} weights for {} rows", problem.who, problem.weight.size(), rows);
  if (rows == 0) data_error("empty_data", "{}: there are no rows to fit", problem.who);
  if (learns_classes(problem.family) && problem.classes < 2)
    internal_error("{}: {} classes", problem.who, problem.classes);
  if (problem.family == LinearFamily::probit && problem.classes > 2)
    internal_error("{}: {} classes", problem.who, problem.classes);
}

void check_options(const LinearProblem& problem) {
  if (!(problem.l2 >= 0) || !std::isfinite(problem.l2))
    option_error("bad_option", "{}: l2 must be >= 0, got {}", problem.who, problem.l2);
  if (!(problem.l1 >= 0) || !std::isfinite(problem.l1))
    option_error("bad_option", "{}: l1 must be >= 0, got {}", problem.who, problem.l1);
  const bool smooth = problem.solver == LinearSolver::lbfgs || problem.solver == LinearSolver::newton ||
                      problem.solver == LinearSolver::irls;
  if (problem.l1 > 0 && smooth) {
    option_error("bad_option", "{}: solver={} does not support l1 = {}; use solver=prox-newton or solver=auto",
                 problem.who, solver_name(problem.solver), problem.l1);
  }
  if (problem.l1 > 0 && problem.solver == LinearSolver::sgd)
    option_error("bad_option", "{}: solver=sgd does not support l1 = {}; use solver=prox-sgd", problem.who, problem.l1);
}

void check_each_label(const LinearProblem& problem) {
  for (Index i = 0; i < problem.x.rows(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    if (learns_classes(problem.family)) {
      if (problem.cls[n] < 0 || problem.cls[n] >= problem.classes) {
        data_error("bad_label", "{}: row {} has class {}, not one of 0 .. {}", problem.who, i + 1, problem.cls[n],
                   problem.classes - 1);
      }
      continue;
    }
    if (!std::isfinite(problem.value[n]))
      data_error("non_finite", "{}: the label of row {} is {}", problem.who, i + 1, problem.value[n]);
    if (problem.family == LinearFamily::poisson && problem.value[n] < 0)
      data_error("bad_label", "{}: the label of row {} is {}; counts must be >= 0", problem.who, i + 1,
                 problem.value[n]);
  }
}

/// Rejects problems without an optimum because a class is absent.
double check_classes(const LinearProblem& problem) {
  Vector total = Vector::Zero(problem.classes);
  for (Index i = 0; i < problem.x.rows(); ++i) total[problem.cls[at(i)]] += weight_of(problem, i);
  const Index present = (total.array() > 0).count();
  if (present == 0)
    data_error("zero_weights", "{}: the weights of all {} rows are zero", problem.who, problem.x.rows());
  if (present == 1) data_error("one_class", "{}: all rows with positive weight belong to one class", problem.who);
  const bool needed = (problem.offset && !problem.penalise_offset) || problem.l2 == 0;
  if (present < problem.classes && needed) {
    Index missing = 0;
    while (total[missing] > 0) ++missing;
    data_error("empty_class", "{}: class {} of {} has no row with positive weight", problem.who, missing,
               problem.classes);
  }
  return total.sum();
}

double check_numbers(const LinearProblem& problem) {
  double total = 0;
  double counts = 0;
  for (Index i = 0; i < problem.x.rows(); ++i) {
    total += weight_of(problem, i);
    counts += weight_of(problem, i) * problem.value[at(i)];
  }
  if (total == 0) data_error("zero_weights", "{}: the weights of all {} rows are zero", problem.who, problem.x.rows());
  if (problem.family == LinearFamily::poisson && counts == 0)
    data_error("zero_counts", "{}: all counts with positive weight are zero, so the rate has no finite logarithm",
               problem.who);
  return total;
}

}  // namespace

void check_shapes(const LinearProblem& problem) {
  check_sizes(problem);
  check_options(problem);
}

void check_finite(const LinearProblem& problem, const Context& context) {
  const NonFinite bad = find_non_finite(problem.x, context);
  if (bad.row >= 0) {
    data_error("non_finite", "{}: column {} has the value {} in row {}; an `impute` stage replaces missing values",
               problem.who, problem.x.name(bad.column), bad.value, bad.row + 1);
  }
}

double check_labels(const LinearProblem& problem) {
  for (Index i = 0; i < problem.weight.size(); ++i) {
    if (!std::isfinite(problem.weight[i]))
      data_error("non_finite", "{}: the weight of row {} is {}", problem.who, i + 1, problem.weight[i]);
  }
  check_each_label(problem);
  for (Index i = 0; i < problem.weight.size(); ++i) {
    if (problem.weight[i] < 0)
      data_error("negative_weight", "{}: the weight of row {} is {}", problem.who, i + 1, problem.weight[i]);
  }
  return learns_classes(problem.family) ? check_classes(problem) : check_numbers(problem);
}

Optimality optimality_of(const LinearProblem& problem, const Loss& loss, const LinearScores& scores, double part,
                         const Context& context) {
  using Sums = GradientAndLoss;
  const Index p = problem.x.cols();
  const Matrix columns = scores.weights.transpose();
  const Sums zero{Matrix::Zero(p + 1, loss.outputs()), {}};
  Pool<Scratch> pool;
  const auto sums_at = [&](const Matrix& w, const Vector& offset) {
    return sum_rows(problem.x.blocks(), context, zero, [&](Sums& acc, Index b) {
      const auto scratch = pool.borrow();
      const RowBlock rows = problem.x.block(b, *scratch);
      Matrix t(rows.x.rows(), w.cols());
      multiply(rows.x, w, t);
      t.rowwise() += offset.transpose();
      Matrix none(t.rows(), 0);
      loss.evaluate(rows.first, t, none, acc.loss);
      add_transpose_product(rows.x, t, acc.gradient.topRows(p));
      acc.gradient.row(p) += t.colwise().sum();
    });
  };
  const Sums here = sums_at(columns, scores.offset);
  const Vector start = problem.offset ? loss.constant_scores() : Vector(Vector::Zero(loss.outputs()));
  Sums constant = sums_at(Matrix::Zero(p, loss.outputs()), start);
  if (!problem.offset) constant.gradient.row(p).setZero();

  Matrix theta(p + 1, loss.outputs());
  theta << columns, scores.offset.transpose();
  Vector l2 = Vector::Constant(p + 1, problem.l2);
  Vector l1 = Vector::Constant(p + 1, problem.l1);
  if (!problem.penalise_offset) l1[p] = l2[p] = 0;
  Matrix gradient = part * here.gradient + 2.0 * (l2.asDiagonal() * theta);
  if (!problem.offset) gradient.row(p).setZero();
  Optimality result;
  result.risk =
      part * here.loss.loss + (l2.asDiagonal() * theta.cwiseAbs2()).sum() + (l1.asDiagonal() * theta.cwiseAbs()).sum();
  result.kkt = kkt_residual(theta, gradient, l1);
  result.scale = part * constant.gradient.cwiseAbs().maxCoeff();
  return result;
}

}  // namespace ecotone
