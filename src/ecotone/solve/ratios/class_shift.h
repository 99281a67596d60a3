#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// min |sum_c p_c mu_c - mu_t|^2 over the simplex, from the products of the kernel means mu_c of the source's classes
/// and mu_t of the target.
struct ClassShift {
  Vector shares;         ///< p, of the classes in the target
  double mmd2 = 0;       ///< the minimum
  double condition = 1;  ///< of the products of the class means; beyond 1e10 the shares are not identified
  bool identified() const { return condition <= 1e10; }
};
/// `products` holds <mu_c, mu_c'> and in its last row and column those with the target. Exact, by an active set.
ClassShift match_class_means(const Matrix& products);

/// Minimum of p'Ap / 2 - b'p over p >= 0, sum p = 1, for a positive semidefinite A.
Vector simplex_minimum(const Matrix& a, const Vector& b);

/// Shares of the classes 0 .. classes - 1 of the first rows in the other ones, under the Gaussian kernel; no sigma: the
/// median distance. Sums over all pairs of rows up to 20,000 rows, by a low-rank map beyond.
ClassShift class_shift(const Features& x, std::span<const std::int32_t> cls, Index classes, std::optional<double> sigma,
                       const char* who, const Context& context);

}  // namespace ecotone
