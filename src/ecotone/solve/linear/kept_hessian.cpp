#include "ecotone/solve/linear/kept_hessian.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "ecotone/linalg/products.h"
#include "ecotone/linalg/single.h"
#include "ecotone/solve/linear/risk.h"

namespace ecotone {
namespace {

/// C^(1/2) Z, all rows.
Matrix curved_rows(const Standardised& design, const Vector& curvature) {
  Matrix rows(design.rows(), design.size());
  Scratch scratch;
  Matrix tile;
  for (Index b = 0; b < design.blocks(); ++b) {
    design.block(b, scratch, tile);
    const Index first = design.first_row(b);
    for (Index i = 0; i < tile.rows(); ++i)
      rows.row(first + i) = std::sqrt(std::max(curvature[first + i], 0.0)) * tile.row(i);
  }
  return rows;
}

/// The diagonal L, with a hundredth of its curvature for a direction without a penalty.
Vector dual_diagonal(const Matrix& rows, const Vector& penalty) {
  Vector diagonal = 2 * penalty;
  for (Index j = 0; j < diagonal.size(); ++j) {
    if (diagonal[j] > 0) continue;
    const double own = rows.col(j).squaredNorm();
    diagonal[j] = own > 0 ? 0.01 * own : 1;
  }
  return diagonal;
}

/// The lower triangle of F F', in single precision, which suffices for a preconditioner.
Matrix row_products(const Matrix& rows, const Context& context) {
  constexpr Index tile = 128;
  const Index n = rows.rows();
  const SingleMatrix single = rows.cast<float>();
  Matrix products = Matrix::Zero(n, n);
  context.parallel((n + tile - 1) / tile, [&](Index t) {
    const Index first = t * tile;
    const Index count = std::min(tile, n - first);
    SingleMatrix part(count, first + count);
    multiply_by_transpose(single.middleRows(first, count), single.topRows(first + count), part);
    products.block(first, 0, count, first + count) = part.cast<double>();
  });
  return products;
}

}  // namespace

std::optional<KeptHessian> KeptHessian::of(const Standardised& design, const Vector& curvature, const Vector& penalty,
                                           const Context& context) {
  if (design.rows() >= design.size()) {
    std::vector<Index> columns(at(design.size()));
    std::iota(columns.begin(), columns.end(), Index{0});
    Matrix hessian = weighted_gram(design, columns, curvature, 1, context);
    hessian.diagonal() += 2 * penalty;
    for (Index j = 0; j < hessian.rows(); ++j)
      if (!(hessian(j, j) > 0)) hessian(j, j) = 1;
    auto factor = Cholesky::factor(std::move(hessian), context);
    if (!factor) return {};
    return KeptHessian(std::move(*factor), Vector(), Matrix());
  }
  Matrix rows = curved_rows(design, curvature);
  Vector root = dual_diagonal(rows, penalty).cwiseSqrt().cwiseInverse();
  rows *= root.asDiagonal();
  Matrix inside = row_products(rows, context);
  inside.diagonal().array() += 1;
  auto factor = Cholesky::factor(std::move(inside), context);
  if (!factor) return {};
  return KeptHessian(std::move(*factor), std::move(root), std::move(rows));
}

Matrix KeptHessian::solve(const Matrix& v, const Context& context) const {
  if (root_.size() == 0) return factor_.solve(Vector(v.col(0)), context);
  const Matrix u = root_.asDiagonal() * v;
  Matrix t(rows_.rows(), 1);
  multiply(rows_, u, t);
  const Matrix inside = factor_.solve(Vector(t.col(0)), context);
  Matrix back = Matrix::Zero(u.rows(), 1);
  add_transpose_product(rows_, inside, back);
  return root_.asDiagonal() * (u - back);
}

}  // namespace ecotone
