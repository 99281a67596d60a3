#pragma once

#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Linear maps between Gaussians: rows x with mean m and covariance C become r + (x - m) A with mean r and covariance
/// R = A'CA. Powers of matrices are by symmetric eigendecomposition, eigenvalues floored at 0.
namespace ecotone {

/// coral: A = C^-1/2 R^1/2; monge: A = C^-1/2 (C^1/2 R C^1/2)^1/2 C^-1/2, symmetric, which moves rows least.
enum class LinearMapKind { coral, monge };

/// C^1/2 and C^-1/2; directions without variance have 0 in both.
struct MatrixRoots {
  Matrix root;
  Matrix inverse;
};
MatrixRoots matrix_roots(const Matrix& c, const Context& context);

/// A for this C and R.
Matrix aligning_map(LinearMapKind kind, const Matrix& c, const Matrix& reference, const Context& context);

/// z = to + (x - from) A of the rows of one group.
struct GroupShift {
  bool keep = false;  ///< rows stay as they are, and the rest is not used
  Vector from;
  Matrix map;
  Vector to;
};

/// The covariance whose squared Bures distances to the given ones have the smallest weighted sum.
struct Barycentre {
  Matrix covariance;
  int iterations = 0;
  double change = 0;  ///< of the last iteration, relative to the norm
  bool converged = false;
};
/// The fixed point of R = sum w (R^1/2 C R^1/2)^1/2; `weights` sum to 1. At most 500 iterations, to a change of 1e-12
/// or, where the condition of R does not allow that, to one that no longer falls and is as small as rounding.
Barycentre bures_barycentre(const std::vector<Matrix>& covariances, const Vector& weights, const Context& context);

}  // namespace ecotone
