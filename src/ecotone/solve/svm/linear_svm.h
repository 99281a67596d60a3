#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// The optimum of a linear support vector machine, f(x) = weights.x + offset, and how good it is.
struct LinearSvmFit {
  Vector weights;
  double offset = 0;
  double objective = 0;  ///< of the dual, as in SvmFit: minimal, not positive
  double gap = 0;        ///< primal objective at (weights, offset) plus `objective`: at least 0 up to rounding
  Index support = 0;     ///< rows with a nonzero dual coefficient
  Index bounded = 0;     ///< those at their cost
  Index iterations = 0;  ///< Newton steps over all rows
  bool kept = true;      ///< the rows were in memory; otherwise they were read or computed in every pass
  bool converged = false;
};

/// The problem of fit_svm with the linear kernel, for many rows with few columns: dense, sparse, mapped or in a file.
///
/// Newton's method on a loss that is quadratic within h of its kinks, with h decreasing; the Hessian (p x p) is summed
/// only over the rows within h. It stops when the duality gap, certified by dual coefficients that sum to 0, is at most
/// problem.tolerance times the primal objective. With many rows it starts from the optimum of some of them.
/// `max_iterations` counts Newton steps, 0: 200; `cache_bytes` and `start` are not used. The bytes of the result do not
/// depend on the number of threads. Errors as for fit_svm, and `not_enough_memory`.
LinearSvmFit fit_linear_svm(const SvmProblem& problem, const Features& x, const Context& context);

/// weights.x + offset of every row, on all threads.
Vector linear_svm_scores(const Features& x, ConstVectorView weights, double offset, const Context& context);

}  // namespace ecotone
