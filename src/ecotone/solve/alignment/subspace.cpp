#include "ecotone/solve/alignment/subspace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr double closed_gap = 1e-8;

/// The first entry whose magnitude is the largest, to 12 digits, becomes positive.
void make_positive(Matrix& vectors) {
  for (Index j = 0; j < vectors.cols(); ++j) {
    const double largest = vectors.col(j).cwiseAbs().maxCoeff();
    Index i = 0;
    while (i < vectors.rows() && std::abs(vectors(i, j)) < largest * (1 - 1e-12)) ++i;
    if (i < vectors.rows() && vectors(i, j) < 0) vectors.col(j) *= -1;
  }
}

}  // namespace

PrincipalBasis principal_basis(const Matrix& covariance, const Context& context) {
  SymmetricEigen eigen = symmetric_eigen(covariance, context);
  make_positive(eigen.vectors);
  return {std::move(eigen.vectors), eigen.values.cwiseMax(0)};
}

PrincipalBasis principal_basis(const GroupMoments& group, const Context& context) {
  return principal_basis(Matrix(group.scaled_scatter() / std::max(group.count, 1.0)), context);
}

Index directions_for(const PrincipalBasis& basis, double share, Index most) {
  const double all = basis.variance.sum();
  double sum = 0;
  Index m = 0;
  while (m < basis.variance.size() && (m == 0 || sum < share * all)) sum += basis.variance[m++];
  return std::clamp<Index>(m, 1, std::max<Index>(most, 1));
}

bool gap_closed(const PrincipalBasis& basis, Index m) {
  if (m >= basis.variance.size()) return false;
  return basis.variance[m - 1] - basis.variance[m] <= closed_gap * basis.variance[0];
}

Matrix aligned_directions(const PrincipalBasis& own, const PrincipalBasis& target, Index m, const Context& context) {
  const Matrix p = own.vectors.leftCols(m), t = target.vectors.leftCols(m);
  return product(p, transpose_product(p, t, context), context);
}

}  // namespace ecotone
