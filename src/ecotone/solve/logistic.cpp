#include "ecotone/solve/logistic.h"

#include <cmath>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/solve/logistic_loss.h"
#include "ecotone/solve/logistic_risk.h"
#include "ecotone/solve/newton.h"
#include "ecotone/solve/standardised.h"

namespace ecotone {
namespace {

constexpr Index few_parameters = 1500;
constexpr Index always_few = 300;
constexpr double direct_work = 3e11;  // multiplications for one Hessian

double weight_of(const LogisticProblem& problem, Index row) {
  return problem.weight.size() == 0 ? 1.0 : problem.weight[row];
}

void check_shapes(const LogisticProblem& problem) {
  const Index rows = problem.x.rows();
  if (static_cast<Index>(problem.cls.size()) != rows)
    data_error("shape_mismatch", "logistic: {} labels for {} rows", problem.cls.size(), rows);
  if (problem.weight.size() != 0 && problem.weight.size() != rows)
    data_error("shape_mismatch", "logistic: {} weights for {} rows", problem.weight.size(), rows);
  if (rows == 0) data_error("empty_data", "logistic: there are no rows to fit");
  if (problem.classes < 2) internal_error("logistic: {} classes", problem.classes);
  if (!(problem.l2 >= 0) || !std::isfinite(problem.l2))
    option_error("bad_option", "logistic: l2 must be >= 0, got {}", problem.l2);
}

void check_values(const LogisticProblem& problem, const Context& context) {
  const NonFinite bad = find_non_finite(problem.x, context);
  if (bad.row >= 0) {
    data_error("non_finite",
               "logistic: column {} has the value {} in row {}; an `impute` stage replaces missing values",
               problem.x.name(bad.column), bad.value, bad.row + 1);
  }
  for (Index i = 0; i < problem.weight.size(); ++i) {
    if (!std::isfinite(problem.weight[i]))
      data_error("non_finite", "logistic: the weight of row {} is {}", i + 1, problem.weight[i]);
  }
  for (Index i = 0; i < problem.x.rows(); ++i) {
    const std::int32_t c = problem.cls[static_cast<std::size_t>(i)];
    if (c < 0 || c >= problem.classes)
      data_error("bad_label", "logistic: row {} has class {}, not one of 0 .. {}", i + 1, c, problem.classes - 1);
  }
  for (Index i = 0; i < problem.weight.size(); ++i) {
    if (problem.weight[i] < 0)
      data_error("negative_weight", "logistic: the weight of row {} is {}", i + 1, problem.weight[i]);
  }
}

/// Total weight of each class; refuses problems without an optimum because a class is not there.
Vector class_weights(const LogisticProblem& problem) {
  Vector total = Vector::Zero(problem.classes);
  for (Index i = 0; i < problem.x.rows(); ++i) total[problem.cls[static_cast<std::size_t>(i)]] += weight_of(problem, i);
  const Index present = (total.array() > 0).count();
  if (present == 0) data_error("zero_weights", "logistic: the weights of all {} rows are zero", problem.x.rows());
  if (present == 1) data_error("one_class", "logistic: all rows with weight are of one class");
  if (present < problem.classes && (problem.offset || problem.l2 == 0)) {
    Index missing = 0;
    while (total[missing] > 0) ++missing;
    data_error("empty_class", "logistic: class {} of {} has no row with weight", missing, problem.classes);
  }
  return total;
}

/// Whether the Hessian is formed: few parameters, and rows few enough to pay for it.
bool solve_directly(const LogisticProblem& problem) {
  const Index outputs = problem.classes == 2 ? 1 : problem.classes - 1;
  const Index size = (problem.x.cols() + 1) * outputs;
  const auto d = static_cast<double>(size);
  return size <= always_few || (size <= few_parameters && d * d * static_cast<double>(problem.x.rows()) <= direct_work);
}

/// rho / s_j^2 for the weights in standardised coordinates, 0 for the offset. A column so small that its penalty is not
/// a number keeps the weight 0.
Vector standard_penalty(double l2, Standardised& design) {
  Vector penalty = Vector::Zero(design.size());
  const double root = std::sqrt(l2);
  for (Index j = 0; j < design.scale().size(); ++j) {
    const double s = design.scale()[j];
    if (s == 0) continue;
    penalty[j] = (root / s) * (root / s);
    if (penalty[j] > 1e200) {
      design.drop(j);
      penalty[j] = 0;
    }
  }
  return penalty;
}

/// All weights 0 and the offsets of the best constant prediction.
Matrix start_at(const Standardised& design, const LogisticLoss& loss, const Vector& class_weight) {
  Matrix theta = Matrix::Zero(design.size(), loss.outputs());
  if (!design.has_offset()) return theta;
  const Vector log_weight = class_weight.array().log();
  theta.bottomRows(1) = loss.basis().rows() == 1 ? Matrix(Matrix::Constant(1, 1, log_weight[1] - log_weight[0]))
                                                 : Matrix(log_weight.transpose() * loss.basis());
  return theta;
}

/// Back to the units of the features: w = u / s, offset = c - m'w.
LogisticFit in_given_units(const NewtonResult& result, const Standardised& design, const LogisticLoss& loss) {
  const Index p = design.scale().size();
  const Matrix theta = loss.basis() * result.point.theta.transpose();
  const Matrix gradient = loss.basis() * result.point.gradient.transpose();
  LogisticFit fit;
  fit.weights = Matrix::Zero(theta.rows(), p);
  fit.offset = Vector::Zero(theta.rows());
  for (Index j = 0; j < p; ++j) {
    if (design.scale()[j] > 0) fit.weights.col(j) = theta.col(j) / design.scale()[j];
  }
  // dR/dw_j = s_j dR/du_j + m_j dR/dc
  Matrix given = gradient.leftCols(p) * design.scale().asDiagonal();
  if (design.has_offset()) {
    fit.offset = theta.col(p) - fit.weights * design.mean();
    given += gradient.col(p) * design.mean().transpose();
    fit.kkt = gradient.col(p).cwiseAbs().maxCoeff();
  }
  if (p > 0) fit.kkt = std::max(fit.kkt, given.cwiseAbs().maxCoeff());
  fit.risk = result.point.risk;
  fit.iterations = result.iterations;
  fit.converged = result.converged;
  return fit;
}

}  // namespace

LogisticFit fit_logistic(const LogisticProblem& problem, const Context& context) {
  check_shapes(problem);
  check_values(problem, context);
  const Vector class_weight = class_weights(problem);
  use_one_blas_thread();

  const double norm = problem.norm_by_weights ? class_weight.sum() : static_cast<double>(problem.x.rows());
  const bool direct = solve_directly(problem);
  const DesignRoute route = !direct && problem.x.is_sparse() ? DesignRoute::sparse : DesignRoute::dense;
  Standardised design(problem.x, problem.weight, problem.offset, route, context);
  const LogisticLoss loss(problem.cls, problem.classes, problem.weight, norm);
  const Vector penalty = standard_penalty(problem.l2, design);
  const auto risk =
      direct ? direct_risk(design, loss, penalty, context) : iterative_risk(design, loss, penalty, context);

  const NewtonOptions options{
      .scale = class_weight.sum() / norm, .unpenalised = problem.l2 == 0, .max_iterations = problem.max_iterations};
  const NewtonResult result = minimise(*risk, start_at(design, loss, class_weight), options);
  if (result.separable) {
    data_error("separable",
               "logistic: the classes can be separated, so there is no optimum without a penalty; use l2 > 0");
  }
  return in_given_units(result, design, loss);
}

}  // namespace ecotone
