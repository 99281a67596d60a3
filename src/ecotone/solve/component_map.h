#pragma once

#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// z = B'k(rows, x) - bias: the projection of any row x at the training mean. Under the linear kernel the rows are the
/// directions B'X themselves and the coefficients are 1.
struct ComponentMap {
  Kernel kernel;
  Matrix rows;          ///< r x d
  Matrix coefficients;  ///< B, r x components
  Vector bias;          ///< one per component

  Index size() const { return coefficients.cols(); }
  /// z of every row of a block, on the calling thread.
  void project(ConstMatrixView x, MatrixView z) const;
};

}  // namespace ecotone
