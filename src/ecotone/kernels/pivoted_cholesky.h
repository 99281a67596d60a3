#pragma once

#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// K ~ G G' for a Gram matrix: column by column, each time at the row with the largest remaining diagonal entry.
struct PivotedCholesky {
  Matrix factor;              ///< G, n x rank
  std::vector<Index> pivots;  ///< rows whose columns were used, in order
  double residual = 0;        ///< tr(K - G G') / tr(K)
};

/// Stops when the residual is at most `residual`, or when only rounding is left. K is never formed: memory and time are
/// proportional to n rank and n rank^2. Of equal pivots the first is taken, so the result does not depend on the number
/// of threads.
PivotedCholesky pivoted_cholesky(const Kernel& kernel, ConstMatrixView x, double residual, const Context& context);

}  // namespace ecotone
