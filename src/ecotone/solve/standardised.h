#pragma once

#include <memory>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/pool.h"

namespace ecotone {

/// How rows are multiplied: as dense standardised tiles, or through the features' own sparse products (never centred).
enum class DesignRoute { dense, sparse };

/// The features in coordinates of mean 0 (dense, with an offset) and mean square 1, and a column of ones for the
/// offset:
///   Z = [(X - 1 m') S^-1, 1].
/// Means and mean squares are over rows weighted by `weight`; a column that does not vary there (or is zero) has scale
/// 0 and is a zero column of Z.
class Standardised {
 public:
  Standardised(Features x, ConstVectorView weight, bool offset, DesignRoute route, const Context& context);

  Index rows() const { return x_.rows(); }
  /// Columns of Z.
  Index size() const { return x_.cols() + (offset_ ? 1 : 0); }
  Index blocks() const { return x_.blocks(); }
  Index rows_in(Index b) const { return x_.rows_in(b); }
  Index first_row(Index b) const { return x_.first_row(b); }
  bool has_offset() const { return offset_; }
  /// m; zero where nothing is centred.
  const Vector& mean() const { return mean_; }
  /// S; 0: a column without variation.
  const Vector& scale() const { return scale_; }
  /// Makes column j a zero column of Z.
  void drop(Index j) { inverse_[j] = scale_[j] = 0; }

  /// The standardised rows of block b, made in `tile`.
  void block(Index b, Scratch& scratch, Matrix& tile) const;

  /// One sweep over the rows: for a tile of them, t = Z theta; `body(first_row, t, sums)` turns t into r and adds to
  /// its sums. Returns Z'R and the sums.
  template <class Sums, class Body>
  std::pair<Matrix, Sums> sweep(const Matrix& theta, const Sums& zero, const Context& context, Body&& body) const;

 private:
  struct Workspace {
    Scratch scratch;
    Matrix tile;
    Matrix scores;
  };

  void measure_dense(ConstVectorView weight, const Context& context);
  void measure_sparse(ConstVectorView weight, const Context& context);
  Index tile_rows() const;
  /// tile = Z of rows [first, first + rows) of a block.
  void standardise(const RowBlock& block, Index first, Index rows, Matrix& tile) const;

  Features x_;
  bool offset_;
  DesignRoute route_;
  Vector mean_;
  Vector scale_;
  Vector inverse_;  // 1 / scale, or 0
  std::shared_ptr<Pool<Workspace>> pool_ = std::make_shared<Pool<Workspace>>();
};

template <class Sums, class Body>
std::pair<Matrix, Sums> Standardised::sweep(const Matrix& theta, const Sums& zero, const Context& context,
                                            Body&& body) const {
  struct Acc {
    Matrix product;
    Sums sums;
    void merge(const Acc& other) {
      product += other.product;
      sums.merge(other.sums);
    }
  };
  const Index p = x_.cols();
  const bool sparse = route_ == DesignRoute::sparse;
  // X (S^-1 theta) = (X S^-1) theta: the sparse values stay as they are.
  const Matrix coefficients = sparse ? Matrix(inverse_.asDiagonal() * theta.topRows(p)) : Matrix();
  Acc acc = sum_blocks(blocks(), context, Acc{Matrix::Zero(theta.rows(), theta.cols()), zero}, [&](Acc& a, Index b) {
    const auto work = pool_->borrow();
    Matrix& t = work->scores;
    if (sparse) {
      t.resize(rows_in(b), theta.cols());
      x_.multiply(b, coefficients, t);
      if (offset_) t.rowwise() += theta.row(p);
      body(first_row(b), MatrixView(t), a.sums);
      x_.multiply_transposed(b, t, a.product.topRows(p));
      if (offset_) a.product.row(p) += t.colwise().sum();
      return;
    }
    const RowBlock rows = x_.block(b, work->scratch);
    for (Index first = 0; first < rows.x.rows(); first += tile_rows()) {
      standardise(rows, first, std::min(tile_rows(), rows.x.rows() - first), work->tile);
      t.noalias() = work->tile * theta;
      body(rows.first + first, MatrixView(t), a.sums);
      a.product.noalias() += work->tile.transpose() * t;
    }
  });
  if (sparse) acc.product.topRows(p) = inverse_.asDiagonal() * acc.product.topRows(p);
  return {std::move(acc.product), std::move(acc.sums)};
}

}  // namespace ecotone
