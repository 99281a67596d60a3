#include "ecotone/linalg/block_eigen.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/random.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr Index most_steps = 400;
constexpr Index small = 256;
/// Columns multiplied at once when all of A is formed.
constexpr Index panel_rows = 64;

/// Columns multiplied at once: one panel of 8, or two.
Index block_cols(Index k) { return k <= 16 ? 8 : 16; }

/// Columns of the basis, including the next block.
Index basis_cols(Index k) { return k + std::max<Index>(12 * block_cols(k), k) + block_cols(k); }

bool dense(Index n, Index k) { return n <= small || 2 * basis_cols(k) > n; }

/// Block Lanczos: A V = V T + N R', where N is the next block and R couples it to the columns multiplied last.
class BlockLanczos {
 public:
  BlockLanczos(const BlockOperator& multiply, Index n, Index k, double tolerance, const Context& context)
      : multiply_(multiply),
        context_(context),
        k_(k),
        tolerance_(tolerance),
        block_(block_cols(k)),
        most_(basis_cols(k) - block_),
        basis_(n, most_ + block_),
        t_(Matrix::Zero(most_ + block_, most_ + block_)) {}

  LargestEigen run(const Matrix* start) {
    Matrix next = first_block(start);
    if (next.cols() == 0) return {Vector::Zero(k_), Matrix::Identity(basis_.rows(), k_), true};
    SymmetricEigen ritz;
    bool converged = false;
    for (Index step = 0; step < most_steps && !converged; ++step) {
      context_.check_cancelled();
      if (size_ + next.cols() > most_) restart(ritz);
      Matrix coupling;
      next = extend(std::move(next), coupling);
      ritz = symmetric_eigen(t_.topLeftCorner(size_, size_), context_);
      converged = next.cols() == 0 || (size_ >= k_ && residual(ritz, coupling) <= tolerance_);
    }
    LargestEigen result;
    const Index found = std::min(k_, size_);
    result.values = Vector::Zero(k_);
    result.values.head(found) = ritz.values.head(found);
    result.vectors = Matrix::Zero(basis_.rows(), k_);
    result.vectors.leftCols(found) = product(basis_.leftCols(size_), ritz.vectors.leftCols(found), context_);
    result.converged = converged;
    fix_signs(result.vectors);
    return result;
  }

 private:
  const BlockOperator& multiply_;
  const Context& context_;
  Index k_;
  double tolerance_;
  Index block_;
  Index most_;    ///< columns of the basis before a restart
  Matrix basis_;  ///< V, its first size_ columns
  Matrix t_;      ///< V'AV
  Index size_ = 0;

  /// The initial guesses, filled up with noise; noise alone is multiplied by A once, so that components in the null
  /// space of A vanish.
  Matrix first_block(const Matrix* start) {
    const Index n = basis_.rows();
    Matrix block(n, block_);
    Random random(0, "linalg.largest_by_blocks");
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < block_; ++j) block(i, j) = random.normal();
    if (!start) {
      block = multiply_(block);
      require_finite(block);
      return orthonormal(std::move(block), 0);
    }
    const Index given = std::min(block_, start->cols());
    Matrix image = multiply_(block);
    require_finite(image);
    // Noise as large as the guesses would hide them in the basis; it must come after them.
    image *= 1e-3 / std::max(image.norm(), 1e-300);
    image.leftCols(given) = start->leftCols(given);
    return orthonormal(std::move(image), 0);
  }

  void require_finite(const Matrix& block) const {
    if (!block.allFinite())
      data_error("non_finite", "largest_by_blocks: the operator of size {} is not finite", basis_.rows());
  }

  /// An orthonormal basis of what `w` adds to V; directions shorter than `least`, or consisting of rounding alone, are
  /// dropped.
  Matrix orthonormal(Matrix w, double least) const {
    for (int pass = 0; pass < 3; ++pass) {
      if (size_ > 0) {
        const auto v = basis_.leftCols(size_);
        w -= product(v, transpose_product(v, w, context_), context_);
      }
      // W <- W E diag(e)^(-1/2) with W'W = E diag(e) E'; later passes repair what the first one lost.
      const SymmetricEigen e = symmetric_eigen(gram(w, context_), context_);
      const double cut = pass == 0 ? std::max(1e-26 * e.values[0], least * least) : 1e-13 * e.values[0];
      Index kept = 0;
      while (kept < e.values.size() && e.values[kept] > cut) ++kept;
      if (kept == 0) return Matrix(w.rows(), 0);
      const Matrix map = e.vectors.leftCols(kept) * e.values.head(kept).cwiseSqrt().cwiseInverse().asDiagonal();
      w = product(w, map, context_);
    }
    return w;
  }

  /// Adds a block to V and returns the next one, with R in `coupling`.
  Matrix extend(Matrix block, Matrix& coupling) {
    const Index first = size_;
    const Index width = block.cols();
    basis_.middleCols(first, width) = block;
    size_ += width;
    const Matrix image = multiply_(block);
    require_finite(image);
    const Matrix column = transpose_product(basis_.leftCols(size_), image, context_);
    t_.block(0, first, size_, width) = column;
    t_.block(first, 0, width, size_) = column.transpose();
    t_.block(first, first, width, width) = (column.bottomRows(width) + column.bottomRows(width).transpose()) / 2;
    const double scale = t_.topLeftCorner(size_, size_).diagonal().cwiseAbs().maxCoeff();
    Matrix next = orthonormal(image, 1e-15 * scale);
    coupling = transpose_product(next, image, context_);
    return next;
  }

  /// The largest residual |R y| of the wanted Ritz pairs, relative to the largest Ritz value.
  double residual(const SymmetricEigen& ritz, const Matrix& coupling) const {
    const double scale = ritz.values.cwiseAbs().maxCoeff();
    const Matrix rest = coupling * ritz.vectors.block(size_ - coupling.cols(), 0, coupling.cols(), k_);
    return scale > 0 ? rest.colwise().norm().maxCoeff() / scale : 0;
  }

  /// Keeps the best Ritz vectors: V <- V Y, T <- diag(theta). The next block stays orthogonal to them.
  void restart(const SymmetricEigen& ritz) {
    const Index kept = std::min(size_, k_ + 2 * block_);
    basis_.leftCols(kept) = Matrix(product(basis_.leftCols(size_), ritz.vectors.leftCols(kept), context_));
    t_.setZero();
    t_.topLeftCorner(kept, kept) = ritz.values.head(kept).asDiagonal();
    size_ = kept;
  }
};

LargestEigen densely(const BlockOperator& multiply, Index n, Index k, const Context& context) {
  Matrix a(n, n);
  for (Index first = 0; first < n; first += panel_rows) {
    const Index cols = std::min(panel_rows, n - first);
    Matrix unit = Matrix::Zero(n, cols);
    unit.middleRows(first, cols).setIdentity();
    a.middleCols(first, cols) = multiply(unit);
  }
  a = ((a + a.transpose()) / 2).eval();
  const SymmetricEigen all = symmetric_eigen(std::move(a), context);
  return {all.values.head(k), all.vectors.leftCols(k), true};
}

}  // namespace

LargestEigen largest_by_blocks(const BlockOperator& multiply, Index n, Index k, const Context& context,
                               const Matrix* start, double tolerance) {
  if (k < 1 || k > n) internal_error("largest_by_blocks: {} pairs of a matrix of {}", k, n);
  prepare_blas();
  if (dense(n, k)) return densely(multiply, n, k, context);
  return BlockLanczos(multiply, n, k, tolerance, context).run(start);
}

std::size_t largest_by_blocks_bytes(Index n, Index k) {
  const auto bytes = [](Index rows, Index cols) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(double);
  };
  // A, its eigenvectors and 2 n^2 values of LAPACK workspace; or the basis, T with its eigenvectors, and blocks.
  if (dense(n, k)) return bytes(n, 4 * n);
  const Index cols = basis_cols(k);
  return bytes(n, cols + 2 * k + 6 * block_cols(k)) + bytes(cols, 5 * cols);
}

}  // namespace ecotone
