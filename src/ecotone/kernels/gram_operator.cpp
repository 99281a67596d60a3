#include "ecotone/kernels/gram_operator.h"

#include <algorithm>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/tile_product.h"

namespace ecotone {
namespace {

constexpr Index side = KernelTiles::side;

Index panels(Index cols) { return (cols + panel_cols - 1) / panel_cols; }

/// B as panels of 8 columns, one after the other; the last is padded with zeros.
Matrix to_panels(ConstMatrixView b) {
  const Index n = b.rows();
  Matrix result = Matrix::Zero(panels(b.cols()) * n, panel_cols);
  for (Index p = 0; p < panels(b.cols()); ++p) {
    const Index cols = std::min(panel_cols, b.cols() - p * panel_cols);
    result.block(p * n, 0, n, cols) = b.middleCols(p * panel_cols, cols);
  }
  return result;
}

Matrix from_panels(const Matrix& panel, Index n, Index cols) {
  Matrix result(n, cols);
  for (Index p = 0; p < panels(cols); ++p) {
    const Index width = std::min(panel_cols, cols - p * panel_cols);
    result.middleCols(p * panel_cols, width) = panel.block(p * n, 0, n, width);
  }
  return result;
}

}  // namespace

std::size_t GramOperator::bytes(Index n) {
  return static_cast<std::size_t>(LowerTiles(n).count()) * static_cast<std::size_t>(side * side) * sizeof(double);
}

GramOperator::GramOperator(const Kernel& kernel, ConstMatrixView x, Tiles tiles, const Context& context)
    : source_(kernel, x), lower_(x.rows()) {
  if (tiles == Tiles::computed) return;
  const Index n = x.rows();
  require_memory(bytes(n), kernel_name(kernel.kind), fmt::format("half of the Gram matrix of {} rows", n),
                 "use fewer rows");
  Matrix kept(lower_.count() * side, side);
  take_pages(kept.data(), bytes(n), context);
  context.parallel(lower_.count(), [&](Index t) {
    const auto at = lower_.at(t);
    Eigen::Map<Matrix> k(kept.data() + t * side * side, at.rows, at.cols);
    source_.tile(at.i, at.j, k);
    if (at.diagonal()) mirror_lower(k);
  });
  kept_ = std::move(kept);
}

ConstMatrixMap GramOperator::tile(Index t, Matrix& scratch) const {
  const auto at = lower_.at(t);
  if (kept_.size() > 0) return {kept_.data() + t * side * side, at.rows, at.cols, Eigen::OuterStride<>(at.cols)};
  scratch.resize(at.rows, at.cols);
  source_.tile(at.i, at.j, scratch);
  if (at.diagonal()) mirror_lower(scratch);
  return {scratch.data(), at.rows, at.cols, Eigen::OuterStride<>(at.cols)};
}

Matrix GramOperator::multiply(ConstMatrixView b, const Context& context) const {
  if (b.rows() != size()) internal_error("gram_operator: {} rows for a matrix of {}", b.rows(), size());
  const Index n = size();
  if (b.size() == 0) return Matrix::Zero(n, b.cols());
  const Matrix right = to_panels(b);
  const Matrix sum =
      sum_blocks(lower_.count(), context, Matrix(Matrix::Zero(right.rows(), panel_cols)), [&](Matrix& into, Index t) {
        const auto at = lower_.at(t);
        Matrix scratch;
        const ConstMatrixMap k = tile(t, scratch);
        for (Index p = 0; p < panels(b.cols()); ++p) {
          const auto row = [&](Index i) { return (p * n + i) * panel_cols; };
          if (at.diagonal()) {
            add_tile_product(k, right.data() + row(at.j), into.data() + row(at.i));
          } else {
            add_tile_products(k, right.data() + row(at.j), right.data() + row(at.i), into.data() + row(at.i),
                              into.data() + row(at.j));
          }
        }
      });
  return from_panels(sum, n, b.cols());
}

Matrix GramOperator::multiply_centred(ConstMatrixView b, const Context& context) const {
  Matrix result = multiply(b, context);
  if (size() > 0) result.rowwise() -= result.colwise().mean().eval();
  return result;
}

Matrix GramOperator::centred_lower(const Vector& means, double ridge, const Context& context) const {
  const Index n = size();
  require_memory(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(double), "components",
                 fmt::format("a factor of {} x {} rows", n, n), "use fewer rows or another route");
  const double all = n == 0 ? 0 : means.mean();
  Matrix a(n, n);
  take_pages(a.data(), static_cast<std::size_t>(a.size()) * sizeof(double), context);
  context.parallel(lower_.count(), [&](Index t) {
    const auto at = lower_.at(t);
    Matrix scratch;
    const ConstMatrixMap k = tile(t, scratch);
    for (Index r = 0; r < at.rows; ++r)
      a.block(at.i + r, at.j, 1, at.cols) =
          (k.row(r).array() - (means.segment(at.j, at.cols).transpose().array() + means[at.i + r]) + all).matrix();
    if (at.diagonal()) a.block(at.i, at.j, at.rows, at.cols).diagonal().array() += ridge;
  });
  return a;
}

}  // namespace ecotone
