#include "ecotone/kernels/kernel.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/kernel_rows.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/exponential.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/row_product.h"

namespace ecotone {
namespace {

constexpr Index laplacian_strip = 256;

Index parts(Index size, Index part) { return (size + part - 1) / part; }

void require_gram(const Kernel& kernel, Index rows, Index cols) {
  require_memory(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(double),
                 kernel_name(kernel.kind), fmt::format("the Gram matrix of {} x {} rows", rows, cols),
                 "use fewer rows");
}

}  // namespace

std::string_view kernel_name(KernelKind kind) {
  switch (kind) {
    case KernelKind::rbf:
      return "rbf";
    case KernelKind::laplacian:
      return "laplacian";
    case KernelKind::linear:
      return "linear";
    case KernelKind::poly:
      return "poly";
  }
  internal_error("kernel: kind {}", static_cast<int>(kind));
}

void check_kernel(const Kernel& kernel) {
  const auto name = kernel_name(kernel.kind);
  const double inverse = kernel.kind == KernelKind::rbf ? 0.5 / kernel.sigma / kernel.sigma : 1 / kernel.sigma;
  if (shift_invariant(kernel) && (!(kernel.sigma > 0) || !std::isfinite(kernel.sigma) || !std::isfinite(inverse)))
    option_error("bad_option", "{}: sigma must be a positive number, got {}", name, kernel.sigma);
  if (kernel.kind != KernelKind::poly) return;
  if (kernel.degree < 1) option_error("bad_option", "poly: degree must be >= 1, got {}", kernel.degree);
  if (!(kernel.coef0 >= 0) || !std::isfinite(kernel.coef0))
    option_error("bad_option", "poly: coef0 must be >= 0, got {}", kernel.coef0);
  if (!(kernel.scale > 0) || !std::isfinite(kernel.scale))
    option_error("bad_option", "poly: scale must be > 0, got {}", kernel.scale);
}

KernelTiles::KernelTiles(const Kernel& kernel, ConstMatrixView x) : kernel_(kernel), rows_(x.rows()), cols_(x.rows()) {
  check_kernel(kernel);
  prepare_blas();
  if (kernel.kind == KernelKind::rbf) {
    rbf_ = std::make_shared<const RbfTiles>(x, kernel.sigma);
  } else {
    points_ = std::make_shared<const Points>(
        Points{x, Matrix(), kernel.kind == KernelKind::laplacian ? Matrix(x.transpose()) : Matrix()});
  }
}

KernelTiles::KernelTiles(const Kernel& kernel, ConstMatrixView x, ConstMatrixView y)
    : kernel_(kernel), rows_(x.rows()), cols_(y.rows()) {
  check_kernel(kernel);
  prepare_blas();
  if (x.cols() != y.cols()) internal_error("{}: {} and {} columns", kernel_name(kernel.kind), x.cols(), y.cols());
  if (kernel.kind == KernelKind::rbf) {
    rbf_ = std::make_shared<const RbfTiles>(x, y, kernel.sigma);
  } else if (kernel.kind == KernelKind::laplacian) {
    points_ = std::make_shared<const Points>(Points{x, Matrix(), y.transpose()});
  } else {
    points_ = std::make_shared<const Points>(Points{x, y, Matrix()});
  }
}

void KernelTiles::laplacian_tile(Index i, Index j, MatrixView k) const {
  const Matrix& columns = points_->columns;
  for (Index r = 0; r < k.rows(); ++r) {
    double* const row = k.data() + r * k.outerStride();
    std::fill_n(row, k.cols(), 0.0);
    for (Index f = 0; f < columns.rows(); ++f)
      add_differences(points_->x(i + r, f), columns.data() + f * columns.cols() + j, row, k.cols());
    exp_of_negative(1 / kernel_.sigma, row, k.cols());
  }
}

void KernelTiles::product_tile(Index i, Index j, MatrixView k) const {
  const Matrix& x = points_->x;
  const Matrix& y = points_->y.size() == 0 ? points_->x : points_->y;
  multiply_by_transpose(x.middleRows(i, k.rows()), y.middleRows(j, k.cols()), k);
  if (kernel_.kind == KernelKind::linear) return;
  for (Index r = 0; r < k.rows(); ++r)
    for (Index c = 0; c < k.cols(); ++c) k(r, c) = power(kernel_.scale * k(r, c) + kernel_.coef0, kernel_.degree);
}

void KernelTiles::tile(Index i, Index j, MatrixView k) const {
  if (k.size() == 0) return;
  if (rbf_) return rbf_->tile(i, j, k);
  if (kernel_.kind == KernelKind::laplacian) return laplacian_tile(i, j, k);
  product_tile(i, j, k);
}

Matrix kernel_gram(const Kernel& kernel, ConstMatrixView x, const Context& context) {
  const KernelTiles tiles(kernel, x);
  const Index n = x.rows();
  require_gram(kernel, n, n);
  Matrix k(n, n);
  take_pages(k.data(), static_cast<std::size_t>(k.size()) * sizeof(double), context);
  const LowerTiles lower(n);
  context.parallel(lower.count(), [&](Index t) {
    const auto at = lower.at(t);
    auto block = k.block(at.i, at.j, at.rows, at.cols);
    tiles.tile(at.i, at.j, block);
    if (at.diagonal()) {
      mirror_lower(block);
    } else {
      k.block(at.j, at.i, at.cols, at.rows) = block.transpose();
    }
  });
  return k;
}

Matrix kernel_gram(const Kernel& kernel, ConstMatrixView x, ConstMatrixView y, const Context& context) {
  const KernelTiles tiles(kernel, x, y);
  require_gram(kernel, x.rows(), y.rows());
  Matrix k(x.rows(), y.rows());
  const Index across = parts(y.rows(), laplacian_strip);
  context.parallel(parts(x.rows(), laplacian_strip) * across, [&](Index t) {
    const Index i = t / across * laplacian_strip;
    const Index j = t % across * laplacian_strip;
    tiles.tile(i, j, k.block(i, j, std::min(laplacian_strip, x.rows() - i), std::min(laplacian_strip, y.rows() - j)));
  });
  return k;
}

Vector kernel_diagonal(const Kernel& kernel, ConstMatrixView x) {
  check_kernel(kernel);
  if (shift_invariant(kernel)) return Vector::Ones(x.rows());
  Vector diagonal = squared_norms(x);
  if (kernel.kind == KernelKind::linear) return diagonal;
  for (double& k : diagonal) k = power(kernel.scale * k + kernel.coef0, kernel.degree);
  return diagonal;
}

KernelMeans centre_gram(Matrix& k, const Context& context) {
  if (k.rows() != k.cols()) internal_error("centre_gram: a matrix of {} x {} is not square", k.rows(), k.cols());
  const Index n = k.rows();
  KernelMeans means{Vector(n), 0};
  if (n == 0) return means;
  const auto each_strip = [&](const auto& body) {
    context.parallel(parts(n, laplacian_strip), [&](Index s) {
      for (Index i = s * laplacian_strip; i < std::min(n, (s + 1) * laplacian_strip); ++i) body(i);
    });
  };
  // K is symmetric: row means are column means.
  each_strip([&](Index i) { means.columns[i] = k.row(i).mean(); });
  means.all = means.columns.mean();
  // (a - m_i) - (m_j - m), in an order that preserves symmetry: k_ij - (m_i + m_j) + m.
  each_strip([&](Index i) {
    k.row(i) = (k.row(i).array() - (means.columns.transpose().array() + means.columns[i]) + means.all).matrix();
  });
  return means;
}

}  // namespace ecotone
