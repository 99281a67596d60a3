#pragma once

#include <cstddef>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/svm/source.h"

namespace ecotone {

/// The dual problem of both kinds of support vector machine, with one signed coefficient per row:
///   min 1/2 b'Kb - t'b + epsilon ||b||_1,  sum b = 0,  low <= b <= high, low <= 0 <= high.
/// Classification: b_i = y_i alpha_i, t = y, epsilon = 0, and one of the bounds is 0. Regression: b = alpha - alpha*.
struct SmoProblem {
  Vector target;
  Vector low;
  Vector high;
  double epsilon = 0;
  double tolerance = 1e-3;   ///< for the largest violation of the optimality conditions
  Index max_iterations = 0;  ///< steps of two coefficients
  Vector start;              ///< feasible
  const char* who = "svm";
};

/// An optimum, or the point that was reached.
struct SmoSolution {
  Vector beta;
  Vector residual;    ///< t - Kb
  double top = 0;     ///< the largest slope of a coefficient that can rise
  double bottom = 0;  ///< the smallest slope of one that can fall; optimal if top - bottom <= tolerance
  Index iterations = 0;
  Index rounds = 0;       ///< working sets
  Index kernel_rows = 0;  ///< computed
  Index fewest_rows = 0;  ///< smallest number of rows in use at a time, after shrinking
  bool converged = false;
};

/// Sequential minimal optimisation on two levels. A round takes the rows that violate the optimality conditions most as
/// its working set (256 rows), computes their kernel rows together, solves the problem in their coefficients by steps
/// of two, chosen by second-order information (fan2005), and then updates the residuals of all rows at once. Rows that
/// stay at a bound are left out (shrinking) until the others are optimal; then their residuals are updated from the
/// coefficients that changed since. Scalar is the precision of stored kernel rows; everything else is double.
template <class Scalar>
SmoSolution solve_smo(const SmoProblem& problem, SvmSource& source, std::size_t cache_bytes, const Context& context);

}  // namespace ecotone
