#pragma once

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// The mean of a Gaussian process.
enum class GpMean {
  zero,
  average,   ///< the average of y, treated as known
  constant,  ///< a constant, by generalised least squares
  linear,    ///< a constant and a slope per column of the inputs, by generalised least squares
};

/// h(x), the functions whose combination is the mean: none, 1, or 1 and (x - centre) / scale.
class GpBasis {
 public:
  /// Only a linear mean uses the inputs.
  GpBasis(GpMean mean, ConstMatrixView inputs);
  /// From a file. Data error `bad_mean` if these cannot be centre and scale.
  GpBasis(GpMean mean, Vector centre, Vector scale);

  GpMean mean() const { return mean_; }
  /// Of the columns of the inputs; a constant column has scale 0 and no slope.
  const Vector& centre() const { return centre_; }
  const Vector& scale() const { return scale_; }
  Index size() const;
  /// h of every row of the inputs; `rows` is their number if the mean is not linear. Data error `shape_mismatch`.
  Matrix of(ConstMatrixView inputs, Index rows) const;

 private:
  GpMean mean_;
  Vector centre_;
  Vector scale_;
};

}  // namespace ecotone
