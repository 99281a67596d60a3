#pragma once

#include "ecotone/base/error.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// The rows of `a`, then those of `b`.
inline Matrix stacked(ConstMatrixView a, ConstMatrixView b) {
  if (a.cols() != b.cols()) internal_error("stacked: {} and {} columns", a.cols(), b.cols());
  Matrix both(a.rows() + b.rows(), a.cols());
  both.topRows(a.rows()) = a;
  both.bottomRows(b.rows()) = b;
  return both;
}

}  // namespace ecotone
