#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/svm/svm.h"

/// Newton's method behind fit_linear_svm.
namespace ecotone {

/// Rows with their costs.
struct LinearSvmRows {
  Features x;
  Vector y;     ///< -1 and +1, or centred regression labels
  Vector cost;  ///< C w_i; 0 leaves a row out
  SvmKind kind = SvmKind::classes;
  double epsilon = 0;
  Vector shift;  ///< origin of the rows; the unpenalised offset absorbs it
};

/// f(x) = weights.(x - shift) + offset, and the width h at which it was found.
struct LinearSvmPoint {
  Vector weights;
  double offset = 0;
  double width = 0;
};

/// A point and its certificate.
struct LinearSvmSolution {
  LinearSvmPoint point;
  double primal = 0;
  double dual = 0;  ///< largest dual objective seen: primal - dual >= 0
  Index support = 0;
  Index bounded = 0;
  Index iterations = 0;
  bool converged = false;
};

/// Iterates from `start` until primal - dual <= tolerance primal.
LinearSvmSolution newton_linear_svm(const LinearSvmRows& rows, const LinearSvmPoint& start, double tolerance,
                                    Index most_iterations, const Context& context);

}  // namespace ecotone
