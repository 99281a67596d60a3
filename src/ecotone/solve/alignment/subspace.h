#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/alignment/group_moments.h"

namespace ecotone {

/// Principal directions of rows: the eigenvectors of their covariance (divisor n, nothing shrunk).
struct PrincipalBasis {
  Matrix vectors;   ///< d x d, one direction per column; the entry of largest magnitude is positive
  Vector variance;  ///< along each, falling
};

PrincipalBasis principal_basis(const Matrix& covariance, const Context& context);
/// Of the rows of a group with a full scatter.
PrincipalBasis principal_basis(const GroupMoments& group, const Context& context);

/// The smallest number of directions with this share of the variance, at most `most` and at least 1.
Index directions_for(const PrincipalBasis& basis, double share, Index most);
/// Whether eigenvalues m and m + 1 are so close (1e-8 of the largest) that the first m directions are arbitrary.
bool gap_closed(const PrincipalBasis& basis, Index m);

/// P P' T for the first m directions P and T of two bases: z = (x - mean) times this are coordinates along T of what
/// lies along P.
Matrix aligned_directions(const PrincipalBasis& own, const PrincipalBasis& target, Index m, const Context& context);

}  // namespace ecotone
