#include "ecotone/solve/alignment/linear_maps.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr int most_iterations = 500;
constexpr double small_change = 1e-12;
/// The change that rounding may leave is this times tr R tr R^-1, a bound of the condition of R, but no more than that.
constexpr double change_rounding = 1e-15;
constexpr double most_change_left = 1e-8;
constexpr std::ptrdiff_t stalled_iterations = 10;
/// Eigenvalues below this part of the largest are rounding: their inverse would be, too.
constexpr double eigen_rounding = 1e-15;

Matrix symmetrised(const Matrix& a) { return 0.5 * (a + a.transpose()); }

/// V diag(values) V'
Matrix from_eigen(const Matrix& vectors, const Vector& values, const Context& context) {
  const Matrix scaled = vectors * values.asDiagonal();
  return product(scaled, Matrix(vectors.transpose()), context);
}

Matrix root_of(const Matrix& a, const Context& context) {
  const SymmetricEigen eigen = symmetric_eigen(symmetrised(a), context);
  return from_eigen(eigen.vectors, eigen.values.cwiseMax(0).cwiseSqrt(), context);
}

Matrix sandwich(const Matrix& outer, const Matrix& inner, const Context& context) {
  return product(product(outer, inner, context), outer, context);
}

/// Whether the last changes are not below half the least before them.
bool no_longer_falls(const std::vector<double>& changes) {
  if (std::ssize(changes) <= stalled_iterations) return false;
  const auto last = changes.end() - stalled_iterations;
  return *std::min_element(last, changes.end()) >= 0.5 * *std::min_element(changes.begin(), last);
}

}  // namespace

MatrixRoots matrix_roots(const Matrix& c, const Context& context) {
  const SymmetricEigen eigen = symmetric_eigen(symmetrised(c), context);
  const double floor = eigen.values.size() > 0 ? std::max(0.0, eigen.values[0]) * eigen_rounding : 0;
  Vector root(eigen.values.size()), inverse(eigen.values.size());
  for (Index j = 0; j < root.size(); ++j) {
    root[j] = std::sqrt(std::max(0.0, eigen.values[j]));
    inverse[j] = eigen.values[j] > floor ? 1 / root[j] : 0;
  }
  return {from_eigen(eigen.vectors, root, context), from_eigen(eigen.vectors, inverse, context)};
}

Matrix aligning_map(LinearMapKind kind, const Matrix& c, const Matrix& reference, const Context& context) {
  const MatrixRoots own = matrix_roots(c, context);
  if (kind == LinearMapKind::coral) return product(own.inverse, root_of(reference, context), context);
  return sandwich(own.inverse, root_of(sandwich(own.root, reference, context), context), context);
}

Barycentre bures_barycentre(const std::vector<Matrix>& covariances, const Vector& weights, const Context& context) {
  Barycentre found;
  const Index d = covariances[0].rows();
  found.covariance = Matrix::Zero(d, d);
  std::vector<double> changes;
  for (std::size_t e = 0; e < covariances.size(); ++e)
    found.covariance += weights[static_cast<Index>(e)] * covariances[e];
  while (found.iterations < most_iterations && !found.converged) {
    context.check_cancelled();
    const MatrixRoots roots = matrix_roots(found.covariance, context);
    Matrix sum = Matrix::Zero(d, d);
    for (std::size_t e = 0; e < covariances.size(); ++e)
      sum += weights[static_cast<Index>(e)] * root_of(sandwich(roots.root, covariances[e], context), context);
    // R <- R^-1/2 (sum)^2 R^-1/2
    Matrix next = symmetrised(sandwich(roots.inverse, product(sum, sum, context), context));
    const double norm = found.covariance.norm();
    found.change = norm > 0 ? (next - found.covariance).norm() / norm : 0;
    found.covariance = std::move(next);
    found.iterations += 1;
    changes.push_back(found.change);
    const double rounding = change_rounding * roots.root.squaredNorm() * roots.inverse.squaredNorm();
    found.converged = found.change < small_change ||
                      (found.change < std::min(rounding, most_change_left) && no_longer_falls(changes));
  }
  return found;
}

}  // namespace ecotone
