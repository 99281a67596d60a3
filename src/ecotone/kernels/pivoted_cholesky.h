#pragma once

#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// K ~ G G' of a Gram matrix: column by column, each time at the row with the largest remaining diagonal entry.
struct PivotedCholesky {
  Matrix factor;              ///< G, n x rank
  std::vector<Index> pivots;  ///< rows whose columns were taken, in order
  double residual = 0;        ///< tr(K - G G') / tr(K)
};

/// Stops when the residual is at most `residual`, or when nothing is left beyond rounding. K is never formed: memory
/// and time in proportion to n rank and n rank^2. The first of equal pivots is taken, so the answer is the same for any
/// number of threads.
PivotedCholesky pivoted_cholesky(const Kernel& kernel, ConstMatrixView x, double residual, const Context& context);

}  // namespace ecotone
