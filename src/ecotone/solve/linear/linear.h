#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/linear/kept_hessian.h"
#include "ecotone/solve/linear/sgd.h"

/// Linear models with L1 and L2 penalties, row weights and an unpenalised offset. fit_linear() is the entrance: it
/// checks the problem, chooses a solver, and returns the fit with its KKT residual.
///
/// A Loss gives the value, slope and curvature of rows. A Standardised design shows the features in coordinates with
/// mean 0 and mean square 1 and is swept tile by tile, wherever the rows are stored. L-BFGS and proximal
/// Newton take means and scales from a sample of the rows, which changes the path but not the optimum.
///
/// Newton's method either forms and factors the Hessian or uses conjugate gradients. L-BFGS may take the Hessian of a
/// sample of rows as preconditioner. Proximal Newton minimises quadratic models by coordinate descent, for L1.
/// Stochastic steps work in the units of the features.
///
/// Written by hand instead of using LIBLINEAR for row weights, the unpenalised offset, rows in files, equal bytes for
/// any number of threads, a certificate of separability, and the KKT residual in the result.
namespace ecotone {

/// The loss of a row: for classification (logistic, which is softmax (59.85) for more than two classes; softmax;
/// probit) or for regression (poisson, least_squares).
enum class LinearFamily { logistic, softmax, probit, poisson, least_squares };

/// Whether its labels are classes.
inline bool learns_classes(LinearFamily family) {
  return family != LinearFamily::poisson && family != LinearFamily::least_squares;
}

enum class LinearSolver { automatic, lbfgs, newton, irls, prox_newton, sgd, prox_sgd };
std::string_view solver_name(LinearSolver solver);

/// Weights and offset of linear scores W x + offset.
struct LinearScores {
  Matrix weights;
  Vector offset;
};

/// The risk (59.12) of a generalised linear model:
///   alpha ||w||_1 + rho ||w||^2 + (1/A) sum_n a_n loss_n,  A = rows (count) or sum of weights (sum).
struct LinearProblem {
  Features x;
  std::span<const std::int32_t> cls;  ///< class of each row, 0 .. classes-1; in a binary problem class 1 is +1
  Index classes = 2;
  ConstVectorView weight;  ///< per row; empty: all 1
  double l2 = 0;           ///< rho
  bool offset = true;
  bool norm_by_weights = false;  ///< A = sum of weights
  int max_iterations = 1000;
  LinearFamily family = LinearFamily::logistic;
  std::span<const double> value = {};  ///< label of each row; poisson, least_squares
  double l1 = 0;                       ///< alpha
  bool penalise_offset = false;
  LinearSolver solver = LinearSolver::automatic;
  double tolerance = 0;  ///< for the largest entry of the gradient in standardised units; 0: to the last digit
  double norm = 0;       ///< A itself; 0: as given by norm_by_weights
  const LinearScores* start = nullptr;  ///< where to start; null: at the best constant
  bool grows = false;                   ///< fits on a few more rows follow: what serves them is kept
  /// What the last fit kept; null: nothing. It is used until the rows have grown by a quarter.
  const LinearCurvature* curvature = nullptr;
  SgdOptions sgd = {};           ///< for sgd and prox_sgd; penalties and offset are those above
  const char* who = "logistic";  ///< the name used in messages
};

/// An optimum. One row of weights; for softmax one per class, and without l1 rows and offsets sum to zero.
struct LinearFit : LinearScores {
  double risk = 0;
  double kkt = 0;  ///< largest distance of the gradient from optimality, in the units of the given features
  int iterations = 0;
  bool converged = false;
  LinearSolver solver = LinearSolver::automatic;     ///< the solver that was used
  double step = 0;                                   ///< stochastic solvers: the step size
  std::shared_ptr<const LinearCurvature> curvature;  ///< for the next fit, where rows grow and L-BFGS was used
};

/// Solves to full accuracy, unless a tolerance or a stochastic solver is requested. Data errors by name, in this order:
/// shape_mismatch, empty_data, non_finite, bad_label (also a negative count), negative_weight, zero_weights, one_class,
/// empty_class (one of several classes has no weight, so its offset has no optimum), separable (only without a penalty;
/// also quasi-complete separation), zero_counts. Option error `bad_option` for a bad penalty, or a solver that does not
/// support it.
LinearFit fit_linear(const LinearProblem& problem, const Context& context);

/// Rejects what `fit_linear` would reject, except separable classes.
void check_linear(const LinearProblem& problem, const Context& context);

/// (1/A) sum_n a_n loss_n of given scores, without penalties.
double mean_loss(const LinearProblem& problem, const LinearScores& scores, const Context& context);

/// The smallest l1 at which all weights are zero.
double largest_l1(const LinearProblem& problem, const Context& context);

}  // namespace ecotone
