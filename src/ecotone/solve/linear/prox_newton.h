#pragma once

#include "ecotone/base/context.h"
#include "ecotone/solve/linear/risk.h"

namespace ecotone {

struct ProxNewtonOptions {
  double scale = 1;      ///< natural size of the gradient
  double tolerance = 0;  ///< largest KKT residual, relative to that size; 0: to the last digit
  int max_iterations = 500;
};

struct ProxNewtonResult {
  RiskPoint point;  ///< risk: with both penalties; gradient: of the smooth part
  int iterations = 0;
  bool converged = false;
};

/// Largest distance of -gradient from the subdifferential of sum_j l1_j |theta_j|.
double kkt_residual(const Matrix& theta, const Matrix& gradient, const Vector& l1);

/// Minimises sum_j l1_j |theta_j| + l2_j theta_j^2 + loss(Z theta): quadratic models on the active columns (those with
/// a nonzero weight, and those whose gradient exceeds the penalty), minimised by coordinate descent, with a line
/// search. Dense designs use the Gram matrix of the active columns, sparse ones a copy of the active columns. Several
/// outputs are modelled one by one.
ProxNewtonResult minimise_prox_newton(const Standardised& design, const Loss& loss, const Vector& l1, const Vector& l2,
                                      Matrix start, const ProxNewtonOptions& options, const Context& context);

}  // namespace ecotone
