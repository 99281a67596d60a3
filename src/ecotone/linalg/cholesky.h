#pragma once

#include <optional>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A = L L' for a symmetric positive definite matrix, by tiles of 256 on all threads. The bytes of the result do not
/// depend on the number of threads.
class Cholesky {
 public:
  /// Only the lower triangle of `a` is read; the factor overwrites it, so memory is not doubled. Empty if `a` is not
  /// positive definite (or not finite): `failed_pivot`, if given, is then the first row whose pivot is not positive.
  static std::optional<Cholesky> factor(Matrix a, const Context& context, Index* failed_pivot = nullptr);
  /// An existing factor, whose diagonal must be positive; entries above the diagonal are ignored and set to 0.
  static Cholesky of_lower(Matrix lower);

  Index size() const { return lower_.rows(); }
  /// L; its upper triangle is zero.
  const Matrix& lower() const { return lower_; }

  /// A^-1 B.
  Matrix solve(Matrix b, const Context& context) const;
  Vector solve(Vector b, const Context& context) const;
  /// L^-1 B.
  Matrix solve_lower(Matrix b, const Context& context) const;

  /// ln det A.
  double log_determinant() const;

 private:
  explicit Cholesky(Matrix lower) : lower_(std::move(lower)) {}

  Matrix lower_;
};

}  // namespace ecotone
