#include "ecotone/solve/linear/linear.h"

#include <cmath>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/solve/linear/checks.h"
#include "ecotone/solve/linear/standard_problem.h"

namespace ecotone {
namespace {

constexpr double instant_work = 1e8;  // multiplications for one Hessian, below which nothing faster is worth trying

Vector values_of(const LinearProblem& problem) {
  return Eigen::Map<const Vector>(problem.value.data(), static_cast<Index>(problem.value.size()));
}

/// Whether the Hessian is formed when any solver would do.
bool is_instant(Index rows, Index size) {
  const auto d = static_cast<double>(size);
  return size <= always_few && d * d * static_cast<double>(rows) <= instant_work;
}

/// Values per row that determine the scores, as counted by the loss.
Index outputs_of(const LinearProblem& problem) {
  const bool several =
      learns_classes(problem.family) && (problem.family == LinearFamily::softmax || problem.classes > 2);
  return !several ? 1 : problem.l1 > 0 ? problem.classes : problem.classes - 1;
}

LinearSolver choose(const LinearProblem& problem) {
  if (problem.solver != LinearSolver::automatic) return problem.solver;
  if (problem.l1 > 0) return LinearSolver::prox_newton;
  const Index rows = problem.x.rows();
  const Index size = (problem.x.cols() + 1) * outputs_of(problem);
  if (is_instant(rows, size)) return LinearSolver::irls;
  // Without a penalty only Newton's method can tell whether there is an optimum; a quadratic takes one step.
  const bool newton =
      (learns_classes(problem.family) && problem.l2 == 0) || problem.family == LinearFamily::least_squares;
  if (newton) return is_direct(rows, size) ? LinearSolver::irls : LinearSolver::newton;
  return LinearSolver::lbfgs;
}

/// Stochastic solvers work in the given units; the KKT residual at the point where they stop is computed at the end.
LinearFit solve_stochastically(const LinearProblem& problem, LinearSolver solver, double norm, const Context& context) {
  const auto rows = static_cast<double>(problem.x.rows());
  // Steps use a_n loss_n; its mean over rows is the loss in the risk.
  const auto per_row = make_loss(problem, norm / rows);
  SgdOptions options = problem.sgd;
  options.l1 = problem.l1;
  options.l2 = problem.l2;
  options.offset = problem.offset;
  options.penalise_offset = problem.penalise_offset;
  SgdResult result = run_sgd(problem.x, *per_row, options, context);
  LinearFit fit;
  fit.weights = per_row->basis() * result.weights;
  fit.offset = per_row->basis() * result.offset;
  fit.solver = solver;
  fit.iterations = options.epochs;
  fit.step = result.step;
  const Optimality end = optimality_of(problem, *per_row, {result.weights, result.offset}, 1.0 / rows, context);
  fit.kkt = end.kkt;
  fit.risk = end.risk;
  if (!std::isfinite(fit.risk) || !std::isfinite(fit.kkt)) {
    data_error("diverged", "{}: the fit diverges with step {:.3g}; scale the features or use a smaller step",
               problem.who, fit.step);
  }
  // Steps end near the optimum, not at it: no more than a fiftieth of the first gradient can be expected.
  fit.converged = fit.kkt <= std::max(problem.tolerance, 0.02) * end.scale;
  return fit;
}

}  // namespace

std::unique_ptr<Loss> make_loss(const LinearProblem& problem, double norm) {
  const bool several = problem.family == LinearFamily::softmax || problem.classes > 2;
  switch (problem.family) {
    case LinearFamily::logistic:
    case LinearFamily::softmax:
      if (!several) return logistic_loss(problem.cls, problem.weight, norm);
      // An l1 penalty applies to the scores themselves.
      return softmax_loss(problem.cls, problem.classes, problem.weight, norm, problem.l1 > 0);
    case LinearFamily::probit:
      return probit_loss(problem.cls, problem.weight, norm);
    case LinearFamily::poisson:
      return poisson_loss(values_of(problem), problem.weight, norm);
    case LinearFamily::least_squares:
      return squared_loss(values_of(problem), problem.weight, norm);
  }
  internal_error("linear model: family {}", static_cast<int>(problem.family));
}

std::string_view solver_name(LinearSolver solver) {
  constexpr std::string_view names[] = {"auto", "lbfgs", "newton", "irls", "prox-newton", "sgd", "prox-sgd"};
  return names[static_cast<std::size_t>(solver)];
}

namespace {

double norm_of(const LinearProblem& problem, double total_weight) {
  if (problem.norm > 0) return problem.norm;
  return problem.norm_by_weights ? total_weight : static_cast<double>(problem.x.rows());
}

DesignShape shape_for(const LinearProblem& problem, LinearSolver solver) {
  const bool sparse = problem.x.is_sparse() && solver != LinearSolver::irls;
  // Penalised solvers need only approximate coordinates; Newton's method without a penalty must know constant columns.
  const bool exact = solver == LinearSolver::irls || solver == LinearSolver::newton;
  return {.offset = problem.offset,
          .centre = !problem.penalise_offset,
          .route = sparse ? DesignRoute::sparse : DesignRoute::dense,
          .exact = exact};
}

/// Checks labels and weights, after the features: errors in the features take precedence.
double checked_norm(const LinearProblem& problem, bool finite, const Context& context) {
  try {
    return norm_of(problem, check_labels(problem));
  } catch (const Error&) {
    if (!finite) check_finite(problem, context);
    throw;
  }
}

}  // namespace

LinearFit fit_linear(const LinearProblem& problem, const Context& context) {
  prepare_blas();
  check_shapes(problem);
  const LinearSolver solver = choose(problem);
  if (solver == LinearSolver::sgd || solver == LinearSolver::prox_sgd) {
    check_finite(problem, context);
    return solve_stochastically(problem, solver, checked_norm(problem, true, context), context);
  }
  DesignShape shape = shape_for(problem, solver);
  Standardised design = solver == LinearSolver::lbfgs && fits_kept_coordinates(problem)
                            ? Standardised(problem.x, shape, problem.curvature->mean, problem.curvature->scale)
                            : Standardised(problem.x, problem.weight, shape, context);
  const bool sampled = design.is_sampled();
  if (!sampled && !design.is_finite()) check_finite(problem, context);
  const auto loss = make_loss(problem, checked_norm(problem, !sampled, context));
  LinearFit fit = solve_standardised(problem, *loss, std::move(design), solver, context);
  const bool finite =
      fit.weights.allFinite() && fit.offset.allFinite() && std::isfinite(fit.risk) && std::isfinite(fit.kkt);
  if (!sampled || (finite && (fit.converged || fit.iterations >= problem.max_iterations))) return fit;
  // Values are not finite, or need more care.
  check_finite(problem, context);
  shape.exact = true;
  LinearProblem anew = problem;
  anew.curvature = nullptr;  // it belongs to other coordinates
  return solve_standardised(anew, *loss, Standardised(problem.x, problem.weight, shape, context), solver, context);
}

void check_linear(const LinearProblem& problem, const Context& context) {
  check_shapes(problem);
  check_finite(problem, context);
  check_labels(problem);
}

double mean_loss(const LinearProblem& problem, const LinearScores& scores, const Context& context) {
  prepare_blas();
  LinearProblem whole = problem;
  whole.l1 = 1;  // so that softmax uses the scores as they are
  const auto loss = make_loss(whole, norm_of(problem, problem.weight.sum()));
  const Matrix columns = scores.weights.transpose();
  const LossSums sums = sum_rows(problem.x.blocks(), context, LossSums{}, [&](LossSums& acc, Index b) {
    Matrix t(problem.x.rows_in(b), columns.cols());
    problem.x.multiply(b, columns, t);
    t.rowwise() += scores.offset.transpose();
    Matrix none(t.rows(), 0);
    loss->evaluate(problem.x.first_row(b), t, none, acc);
  });
  return sums.loss;
}

double largest_l1(const LinearProblem& problem, const Context& context) {
  prepare_blas();
  LinearProblem lasso = problem;
  lasso.l1 = 1;
  lasso.solver = LinearSolver::automatic;
  check_shapes(lasso);
  check_finite(lasso, context);
  const auto loss = make_loss(lasso, checked_norm(lasso, true, context));
  Standardised design(lasso.x, lasso.weight, shape_for(lasso, LinearSolver::prox_newton), context);
  const Matrix gradient = gradient_at_constant(lasso, *loss, std::move(design), context);
  return problem.x.cols() == 0 ? 0.0 : gradient.leftCols(problem.x.cols()).cwiseAbs().maxCoeff();
}

}  // namespace ecotone
