#include "ecotone/solve/components/tca.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr double meaningful_transfer = 1e-10;

/// sqrt(2 / (G - 1)) (row - mean of the rows) of the rows of means, transposed: r x G
Matrix group_differences(const Matrix& means) {
  const Index count = means.rows();
  if (count < 2) return Matrix::Zero(means.cols(), 1);
  const double factor = std::sqrt(2 / (static_cast<double>(count) - 1));
  return (factor * (means.rowwise() - means.colwise().mean())).transpose();
}

/// (I + mu U U')^-1/2 = I - Q diag(shrink) Q' with orthonormal Q.
struct DampedDirections {
  Matrix q;
  Vector shrink;

  /// a (I + mu U U')^-1/2
  Matrix apply(const Matrix& a, const Context& context) const {
    if (q.cols() == 0) return a;
    const Matrix along = product(a, q, context) * shrink.asDiagonal();
    return a - product(along, Matrix(q.transpose()), context);
  }
};

DampedDirections damped(const Matrix& u, double mu, const Context& context) {
  // U = Q S W': U'U = W S^2 W', and U U' = Q S^2 Q', which is smaller where there are more groups than rows
  const bool wide = u.cols() > u.rows();
  const SymmetricEigen eigen = symmetric_eigen(gram(wide ? Matrix(u.transpose()) : u, context), context);
  const double largest = eigen.values.size() > 0 ? eigen.values[0] : 0;
  Index rank = 0;
  while (rank < eigen.values.size() && eigen.values[rank] > 1e-14 * largest && eigen.values[rank] > 0) ++rank;
  DampedDirections found{Matrix(u.rows(), 0), Vector(rank)};
  if (rank == 0) return found;
  const Vector length = eigen.values.head(rank).cwiseSqrt();
  found.q = wide ? Matrix(eigen.vectors.leftCols(rank))
                 : product(u, Matrix(eigen.vectors.leftCols(rank) * length.cwiseInverse().asDiagonal()), context);
  for (Index j = 0; j < rank; ++j) found.shrink[j] = 1 - 1 / std::sqrt(1 + mu * eigen.values[j]);
  return found;
}

Index meaningful_count(const Vector& values, Index most) {
  Index count = 0;
  while (count < std::min(most, values.size()) && values[count] > 0 && values[count] > meaningful_transfer * values[0])
    ++count;
  return count;
}

/// Flips columns of both so that the entry of largest magnitude of `z` is positive.
void make_largest_positive(Matrix& z, Matrix& v) {
  for (Index j = 0; j < z.cols(); ++j) {
    Index row = 0;
    z.col(j).cwiseAbs().maxCoeff(&row);
    if (z(row, j) >= 0) continue;
    z.col(j) *= -1;
    v.col(j) *= -1;
  }
}

/// The value of largest magnitude of each column.
struct LargestValues {
  Vector value;

  void add(double x, Index j) {
    if (std::abs(x) > std::abs(value[j])) value[j] = x;
  }
  void merge(const LargestValues& other) {
    for (Index j = 0; j < value.size(); ++j) add(other.value[j], j);
  }
};

}  // namespace

TransferComponents transfer_components(ConstMatrixView x, const Kernel& kernel, std::span<const std::int32_t> group,
                                       Index groups, const TransferOptions& options, const char* who,
                                       const Context& context) {
  const Index n = x.rows();
  const auto size = static_cast<std::size_t>(n);
  require_memory(6 * size * size * sizeof(double), who, "the kernel matrix", "use route=low_rank");
  const Matrix k = kernel_gram(kernel, x, context);
  Matrix means = Matrix::Zero(groups, n);
  Vector rows = Vector::Zero(groups);
  for (Index i = 0; i < n; ++i) {
    means.row(group[at(i)]) += k.row(i);
    rows[group[at(i)]] += 1;
  }
  for (Index a = 0; a < groups; ++a) {
    if (rows[a] == 0) data_error("empty_group", "{}: group {} of {} has no rows", who, a + 1, groups);
    means.row(a) /= rows[a];
  }
  // S = (H K B)'(H K B) with B = (I + mu U U')^-1/2, U = K F
  const DampedDirections damp = damped(group_differences(means), options.mu, context);
  const Matrix centred = k.rowwise() - k.colwise().mean();
  const SymmetricEigen eigen = symmetric_eigen(gram(damp.apply(centred, context), context), context);
  const Index count = meaningful_count(eigen.values, options.components);
  TransferComponents found;
  found.gamma = eigen.values.head(count);
  const Matrix y = eigen.vectors.leftCols(count).transpose();
  Matrix v = damp.apply(y, context).transpose();
  found.projections = product(k, v, context);
  make_largest_positive(found.projections, v);
  found.map.kernel = kernel;
  found.map.rows = x;
  found.map.coefficients = std::move(v);
  found.map.bias = Vector::Zero(count);
  return found;
}

TransferDirections transfer_directions(const LowRankSums& sums, const TransferOptions& options,
                                       const Context& context) {
  const double n = sums.rows;
  const auto rank = static_cast<std::size_t>(sums.rank()), groups = static_cast<std::size_t>(sums.groups());
  require_memory((8 * rank + 4 * groups) * rank * sizeof(double), "tca",
                 fmt::format("the means of {} groups at rank {}", groups, rank), "use a lower rank");
  Matrix shifted = sums.gram;
  mirror_lower(shifted);
  const Vector sum = sums.group_sum.colwise().sum().transpose();
  // Sums are of rho - shift.
  const Matrix cross = sum * sums.shift.transpose();
  const Matrix raw = shifted + cross + cross.transpose() + n * sums.shift * sums.shift.transpose();
  const Matrix centred = shifted - sum * sum.transpose() / n;
  Matrix means = sums.group_sum;
  for (Index a = 0; a < sums.groups(); ++a) {
    if (sums.group_rows[a] == 0) data_error("empty_group", "tca: group {} of {} has no rows", a + 1, sums.groups());
    means.row(a) /= sums.group_rows[a];
  }
  // S = T T', a = T c: T'S_H T c = g (I + mu (T'f)(T'f)') c
  const SymmetricEigen own = symmetric_eigen(raw, context);
  const Matrix root = own.vectors * own.values.cwiseMax(0).cwiseSqrt().asDiagonal();
  const Matrix f = transpose_product(root, group_differences(means), context);
  const DampedDirections damp = damped(f, options.mu, context);
  const Matrix inner = transpose_product(root, product(centred, root, context), context);
  const Matrix half = damp.apply(inner, context);
  const Matrix both = damp.apply(Matrix(half.transpose()), context);
  const SymmetricEigen eigen = symmetric_eigen(Matrix(0.5 * (both + both.transpose())), context);
  const Index count = meaningful_count(eigen.values, options.components);
  const Matrix y = eigen.vectors.leftCols(count).transpose();
  return {eigen.values.head(count), product(root, Matrix(damp.apply(y, context).transpose()), context)};
}

void fix_transfer_signs(const Features& x, const LowRankMap& map, Matrix& directions, const Context& context) {
  const LargestValues zero{Vector::Zero(directions.cols())};
  const LargestValues largest = sum_blocks(x.blocks(), context, zero, [&](LargestValues& into, Index b) {
    Scratch scratch;
    LowRankMap::Workspace workspace;
    const RowBlock block = x.block(b, scratch);
    Matrix rho(block.x.rows(), map.rank()), z(block.x.rows(), directions.cols());
    map.features(block.x, rho, workspace);
    multiply(rho, directions, z);
    for (Index i = 0; i < z.rows(); ++i)
      for (Index j = 0; j < z.cols(); ++j) into.add(z(i, j), j);
  });
  for (Index j = 0; j < directions.cols(); ++j)
    if (largest.value[j] < 0) directions.col(j) *= -1;
}

}  // namespace ecotone
