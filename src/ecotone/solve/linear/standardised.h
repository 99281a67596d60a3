#pragma once

#include <memory>
#include <span>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/context.h"
#include "ecotone/base/pool.h"
#include "ecotone/data/features.h"
#include "ecotone/data/storage/csr_storage.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/linalg/products.h"

namespace ecotone {

/// How rows are multiplied: as dense standardised tiles, or by the sparse products of the features themselves (never
/// centred).
enum class DesignRoute { dense, sparse };

/// How features become a design: whether there is a column of ones for the offset, and whether the other columns are
/// centred.
struct DesignShape {
  bool offset = true;
  bool centre = true;  ///< dense routes only; sparse features are never centred
  DesignRoute route = DesignRoute::dense;
  bool exact = true;  ///< false: means and mean squares of some of the rows suffice (dense routes)
};

/// The features in coordinates of mean 0 (if centred) and mean square 1, with a column of ones for the offset:
///   Z = [(X - 1 m') S^-1, 1].
/// Means and mean squares are over rows weighted by `weight`; a column that does not vary there (or is zero) has scale
/// 0 and is a zero column of Z. If the shape is not exact they are those of a sample of the rows, and a column that
/// does not vary there has scale 1.
class Standardised {
 public:
  Standardised(Features x, ConstVectorView weight, const DesignShape& shape, const Context& context);
  /// With means and scales that were measured on nearly the same rows, as if they were those of a sample; dense routes.
  Standardised(Features x, const DesignShape& shape, Vector mean, const Vector& scale);

  /// The same coordinates, restricted to every stride-th block of rows. Rows keep their numbers.
  Standardised thinned(Index stride) const;

  /// Rows of the features.
  Index rows() const { return x_.rows(); }
  /// Columns of Z.
  Index size() const { return x_.cols() + (offset_ ? 1 : 0); }
  Index blocks() const { return (x_.blocks() + stride_ - 1) / stride_; }
  Index rows_in(Index b) const { return x_.rows_in(b * stride_); }
  Index first_row(Index b) const { return x_.first_row(b * stride_); }
  bool has_offset() const { return offset_; }
  /// m; zero if not centred.
  const Vector& mean() const { return mean_; }
  /// S; 0: a column without variation.
  const Vector& scale() const { return scale_; }
  /// S^-1; 0 where S is 0.
  const Vector& inverse() const { return inverse_; }
  /// Makes column j a zero column of Z.
  void drop(Index j) { inverse_[j] = scale_[j] = 0; }

  /// Whether measuring showed that all values are finite; false: unknown.
  bool is_finite() const { return finite_; }
  /// Whether means and mean squares are those of a sample of the rows.
  bool is_sampled() const { return sampled_; }
  bool is_sparse() const { return route_ == DesignRoute::sparse; }
  /// The values of the features; only for the sparse route.
  const Csr& csr() const { return *x_.storage().csr(); }

  /// The standardised rows of block b, written to `tile`.
  void block(Index b, Scratch& scratch, Matrix& tile) const;
  /// The same for these columns of Z.
  void block(Index b, std::span<const Index> columns, Scratch& scratch, Matrix& tile) const;

  /// One sweep over the rows: for each tile of rows, t = Z theta; `body(first_row, t, sums)` turns t into r and adds to
  /// its sums. Returns Z'R and the sums. Of several ranks each sweeps its own rows.
  template <class Sums, class Body>
  std::pair<Matrix, Sums> sweep(const Matrix& theta, const Sums& zero, const Context& context, Body&& body) const;

  /// Gives all ranks the values of all rows that sweeps have written to the rows of each.
  void share(Matrix& of_rows, const Context& context) const;
  /// Sums what add(sum, first_row, rows) makes of values that sweeps have written: of several ranks each adds its own.
  template <class Sum, class Add>
  Sum sum_of_rows(const Sum& zero, const Context& context, Add&& add) const;

 private:
  struct Workspace {
    Scratch scratch;
    Matrix tile;
    Matrix scores;
  };

  /// What follows from means and scales.
  void set_inverse();
  /// One pass over every stride-th block, sufficient for all but extreme values; false: nothing was set.
  bool measure_quickly(ConstVectorView weight, Index stride, const Context& context);
  void measure_dense(ConstVectorView weight, const Context& context);
  void measure_sparse(ConstVectorView weight, const Context& context);
  bool measure_sparse_quickly(ConstVectorView weight, const Context& context);
  Index tile_rows() const;
  /// The number of parts into which sparse rows are cut: each has a sum with as many entries as columns, so not too
  /// many.
  Index sparse_parts() const;
  /// What a sweep adds up at a time: blocks, or parts of sparse rows.
  Index parts() const { return is_sparse() ? sparse_parts() : blocks(); }
  /// Rows [first, last) of a part.
  Share part_rows(Index part) const {
    if (is_sparse()) return {part * rows() / sparse_parts(), (part + 1) * rows() / sparse_parts()};
    return {first_row(part), first_row(part) + rows_in(part)};
  }
  static constexpr Index sparse_tile = 512;
  /// tile = Z of rows [first, first + rows) of a block.
  void standardise(const RowBlock& block, Index first, Index rows, Matrix& tile) const;

  Features x_;
  bool offset_;
  bool centre_;
  DesignRoute route_;
  Index stride_ = 1;
  bool finite_ = false;
  bool sampled_ = false;
  bool folded_ = false;  // X (S^-1 theta) - m'(S^-1 theta) loses no digits: tiles of Z need not be made
  Vector mean_;
  Vector scale_;
  Vector inverse_;  // 1 / scale, or 0
  std::shared_ptr<Pool<Workspace>> pool_ = std::make_shared<Pool<Workspace>>();
};

/// What one sweep adds up.
template <class Sums>
struct SweepSums {
  Matrix product;
  Matrix total;  // 1'R
  Sums sums;
  void merge(const SweepSums& other) {
    product += other.product;
    total += other.total;
    sums.merge(other.sums);
  }
  template <class Archive>
  void archive(Archive& with) {
    with(product, total, sums);
  }
};

template <class Sums, class Body>
std::pair<Matrix, Sums> Standardised::sweep(const Matrix& theta, const Sums& zero, const Context& context,
                                            Body&& body) const {
  using Acc = SweepSums<Sums>;
  const Index p = x_.cols();
  const Index outputs = theta.cols();
  // Z theta = X (S^-1 theta) + (c - m'(S^-1 theta)): the values of X stay unchanged.
  const Matrix coefficients = inverse_.asDiagonal() * theta.topRows(p);
  Matrix constant = -mean_.transpose() * coefficients;
  if (offset_) constant += theta.row(p);
  const bool zero_weights = coefficients.isZero(0);
  const Acc empty{Matrix::Zero(theta.rows(), outputs), Matrix::Zero(1, outputs), zero};
  const auto sparse_part = [&](Acc& a, Index part) {
    const auto work = pool_->borrow();
    Matrix& t = work->scores;
    const Share own = part_rows(part);
    for (Index first = own.first; first < own.last; first += sparse_tile) {
      t.resize(std::min(sparse_tile, own.last - first), outputs);
      csr_multiply(csr(), first, coefficients, t);
      t.rowwise() += constant.row(0);
      body(first, MatrixView(t), a.sums);
      csr_multiply_transposed(csr(), first, t, a.product.topRows(p));
      a.total += t.colwise().sum();
    }
  };
  const auto dense_block = [&](Acc& a, Index b) {
    const auto work = pool_->borrow();
    Matrix& t = work->scores;
    const RowBlock rows = x_.block(b * stride_, work->scratch);
    for (Index first = 0; first < rows.x.rows(); first += tile_rows()) {
      const Index count = std::min(tile_rows(), rows.x.rows() - first);
      if (folded_) {
        const auto tile = rows.x.middleRows(first, count);
        if (zero_weights) {
          t.setZero(count, outputs);
        } else {
          t.resize(count, outputs);
          multiply(tile, coefficients, t);
        }
        t.rowwise() += constant.row(0);
        body(rows.first + first, MatrixView(t), a.sums);
        add_transpose_product(tile, t, a.product.topRows(p));
        a.total += t.colwise().sum();
      } else {
        standardise(rows, first, count, work->tile);
        t.resize(count, outputs);
        multiply(work->tile, theta, t);
        body(rows.first + first, MatrixView(t), a.sums);
        add_transpose_product(work->tile, t, a.product);
      }
    }
  };
  Acc acc =
      is_sparse() ? sum_rows(parts(), context, empty, sparse_part) : sum_rows(parts(), context, empty, dense_block);
  if (is_sparse() || folded_) {
    acc.product.topRows(p) = inverse_.asDiagonal() * (acc.product.topRows(p) - mean_ * acc.total);
    if (offset_) acc.product.row(p) = acc.total;
  }
  return {std::move(acc.product), std::move(acc.sums)};
}

template <class Sum, class Add>
Sum Standardised::sum_of_rows(const Sum& zero, const Context& context, Add&& add) const {
  return sum_rows(parts(), context, zero, [&](Sum& sum, Index part) {
    const Share own = part_rows(part);
    add(sum, own.first, own.last - own.first);
  });
}

}  // namespace ecotone
