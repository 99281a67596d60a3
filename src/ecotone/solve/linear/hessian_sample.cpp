#include <cmath>

#include "ecotone/base/blocks.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/pool.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/linear/risk.h"

namespace ecotone {
namespace {

struct Workspace {
  Scratch scratch;
  Matrix tile;
};

std::size_t copies_for(const Context& context) {
  // Ranks exchange some of them, packed and unpacked.
  const auto ranks = static_cast<std::size_t>(context.ranks().size());
  return static_cast<std::size_t>(context.threads()) + 6 + (ranks > 1 ? 2 * ranks + 4 : 0);
}

std::size_t gram_bytes(Index size) {
  return static_cast<std::size_t>(size) * static_cast<std::size_t>(size) * sizeof(double);
}

}  // namespace

void require_gram_memory(Index size, const Context& context) {
  const std::size_t bytes = gram_bytes(size);
  const std::size_t copies = copies_for(context);
  require_memory(bytes * copies, "linear model", fmt::format("{} matrices of {} x {}", copies, size, size),
                 "use solver=lbfgs, a larger l1 or fewer columns");
}

bool gram_fits(Index size, const Context& context) {
  return context.agree("memory for a Hessian", fits_in_memory(2 * gram_bytes(size) * copies_for(context)));
}

Preconditioner inverse_of(Matrix a, const Context& context) {
  for (Index j = 0; j < a.rows(); ++j) {
    if (!(a(j, j) > 0)) a(j, j) = 1;
  }
  a.diagonal() *= 1 + 1e-12;
  auto cholesky = Cholesky::factor(std::move(a), context);
  if (!cholesky) return {};
  auto factor = std::make_shared<const Cholesky>(std::move(*cholesky));
  return [factor, context](const Matrix& v) {
    if (v.cols() > 1 && v.rows() == factor->size()) return factor->solve(v, context);
    const Eigen::Map<const Vector> flat(v.data(), v.size());
    const Vector solved = factor->solve(Vector(flat), context);
    return Matrix(Eigen::Map<const Matrix>(solved.data(), v.rows(), v.cols()));
  };
}

Matrix weighted_gram(const Standardised& design, std::span<const Index> columns, ConstVectorView c, Index stride,
                     const Context& context) {
  const auto size = static_cast<Index>(columns.size());
  require_gram_memory(size, context);
  bool all = size == design.size();
  for (Index k = 0; all && k < size; ++k) all = columns[at(k)] == k;
  Pool<Workspace> pool;
  const Index chosen = (design.blocks() + stride - 1) / stride;
  Index rows = 0;
  for (Index b = 0; b < design.blocks(); b += stride) rows += design.rows_in(b);
  Matrix gram = sum_rows(chosen, context, Matrix(Matrix::Zero(size, size)), [&](Matrix& sum, Index i) {
    const auto work = pool.borrow();
    const Index b = i * stride;
    if (all) {
      design.block(b, work->scratch, work->tile);
    } else {
      design.block(b, columns, work->scratch, work->tile);
    }
    const Vector root = c.segment(design.first_row(b), design.rows_in(b)).cwiseMax(0.0).cwiseSqrt();
    for (Index r = 0; r < root.size(); ++r) work->tile.row(r) *= root[r];
    add_gram(work->tile, sum);
  });
  if (rows < design.rows()) gram *= static_cast<double>(design.rows()) / static_cast<double>(rows);
  return gram;
}

}  // namespace ecotone
