#pragma once

#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// k(x, z_j) between blocks of rows and fixed landmarks z_j. Kernels of distances and the linear kernel measure all
/// points from an origin near the data, so that a large common offset costs no digits. Distances are unaffected; the
/// linear kernel becomes (x - o).(z - o), whose centred Gram matrix is that of x.z.
class LandmarkKernel {
 public:
  LandmarkKernel() = default;
  /// `origin` has one entry per column. Option error `bad_option` for invalid kernel parameters.
  LandmarkKernel(const Kernel& kernel, Vector origin, ConstMatrixView landmarks);

  Index size() const { return landmarks_.rows(); }
  Index cols() const { return landmarks_.cols(); }
  /// k(i, j) = k(x_i, z_j), on the calling thread; `centred` is memory to reuse.
  void block(ConstMatrixView x, MatrixView k, Matrix& centred) const { block(x, 0, k, centred); }
  /// The same with landmarks `first`, first + 1, ..., as many as k has columns.
  void block(ConstMatrixView x, Index first, MatrixView k, Matrix& centred) const;
  /// k(x_i, x_i) of every row.
  Vector diagonal(ConstMatrixView x) const;

 private:
  Kernel kernel_;
  Vector origin_;     // 0 for poly
  Matrix landmarks_;  // relative to the origin
  Matrix columns_;    // laplacian: the transpose
  Vector norms_;      // rbf: squared lengths

  void distances(ConstMatrixView x, Index first, MatrixView k) const;
};

}  // namespace ecotone
