#pragma once

#include <functional>
#include <utility>

#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

/// A point with the risk, its gradient and the margins of the rows there.
struct RiskPoint {
  Matrix theta;
  double risk = 0;
  Matrix gradient;
  LossSums sums;
};

/// The largest entry of the gradient, relative to its natural size, at which a solver still counts as converged when
/// rounding stops its progress.
inline constexpr double accepted_level = 1e-9;

/// tr(A'B)
inline double inner(const Matrix& a, const Matrix& b) { return a.cwiseProduct(b).sum(); }

/// The largest entry of the gradient; infinite if it is NaN.
double residual(const RiskPoint& point);

/// The point of a risk with the penalty sum_j penalty_j theta_j^2, from the loss alone.
RiskPoint penalised_point(Matrix theta, const Matrix& loss_gradient, const LossSums& sums, const Vector& penalty);

/// A smooth convex risk of a matrix of parameters, as Newton's method sees it.
class SmoothRisk {
 public:
  virtual ~SmoothRisk() = default;
  /// Moves to theta.
  virtual RiskPoint at(Matrix theta) = 0;
  /// Solves H d = -gradient at the last point; an iterative solver to this relative accuracy.
  virtual Matrix newton_step(const RiskPoint& point, double accuracy) = 0;
  /// Margins of the rows along a direction.
  virtual LossSums margins_along(const Matrix& direction) = 0;
};

/// A risk that keeps the second derivatives of the rows at the last point.
class CurvedRisk : public SmoothRisk {
 public:
  /// Risk and gradient at theta; the last point does not change.
  virtual RiskPoint look(Matrix theta) = 0;
  /// Entry (k, k) of the second derivatives of the rows.
  virtual Vector row_curvature(Index k) const = 0;
  /// The inverse of an estimate of the diagonal of the Hessian.
  virtual Vector inverse_diagonal() const = 0;
};

/// v -> an approximation of H^-1 v
using Preconditioner = std::function<Matrix(const Matrix& v)>;

/// A risk whose Hessian can be solved with repeatedly.
class FactoredRisk : public SmoothRisk {
 public:
  /// v -> H^-1 v with the Hessian at the last point, factored once; empty if it has no factor.
  virtual Preconditioner inverse_hessian() const = 0;
};

struct NewtonOptions {
  double scale = 1;          ///< natural size of the gradient
  double tolerance = 0;      ///< largest entry of the gradient, relative to that size; 0: to the last digit
  bool unpenalised = false;  ///< watch for directions along which the risk decreases forever
  int max_iterations = 200;
};

struct NewtonResult {
  RiskPoint point;
  int iterations = 0;
  bool converged = false;
  bool separable = false;  ///< a direction was found along which no weighted row loses and some gain
};

/// Newton's method with a backtracking line search, to the last digit that rounding allows.
NewtonResult minimise(SmoothRisk& risk, Matrix start, const NewtonOptions& options);

}  // namespace ecotone
