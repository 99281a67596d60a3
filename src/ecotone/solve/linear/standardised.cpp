#include "ecotone/solve/linear/standardised.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/linalg/blas.h"

namespace ecotone {
namespace {

using RowArray = Eigen::Array<double, 1, Eigen::Dynamic>;

double weight_of(ConstVectorView weight, Index row) { return weight.size() == 0 ? 1.0 : weight[row]; }

/// First sums over columns: range, weighted sum and the weights themselves.
struct Spans {
  RowArray low;
  RowArray high;
  RowArray sum;
  double weight = 0;

  void merge(const Spans& other) {
    low = low.min(other.low);
    high = high.max(other.high);
    sum += other.sum;
    weight += other.weight;
  }
  template <class Archive>
  void archive(Archive& with) {
    with(low, high, sum, weight);
  }
};

struct Squares {
  RowArray sum;
  void merge(const Squares& other) { sum += other.sum; }
  template <class Archive>
  void archive(Archive& with) {
    with(sum);
  }
};

/// Sums of first and second powers around a point, and the largest distance from it.
struct Powers {
  RowArray sum;
  RowArray square;
  RowArray largest;
  double weight = 0;
  Index rows = 0;
  Index weighted = 0;

  void add(const double* row, const RowArray& shift, double a) {
    for (Index j = 0; j < shift.size(); ++j) {
      const double d = row[j] - shift[j];
      sum[j] += a * d;
      square[j] += a * d * d;
      largest[j] = std::max(largest[j], std::abs(d));
    }
    weight += a;
    ++weighted;
  }
  void merge(const Powers& other) {
    sum += other.sum;
    square += other.square;
    largest = largest.max(other.largest);
    weight += other.weight;
    rows += other.rows;
    weighted += other.weighted;
  }
  template <class Archive>
  void archive(Archive& with) {
    with(sum, square, largest, weight, rows, weighted);
  }
};

/// Of stored values.
struct StoredSizes {
  RowArray square;
  RowArray largest;
  void merge(const StoredSizes& other) {
    square += other.square;
    largest = largest.max(other.largest);
  }
  template <class Archive>
  void archive(Archive& with) {
    with(square, largest);
  }
};

struct LargestStored {
  RowArray value;
  void merge(const LargestStored& other) { value = value.max(other.value); }
  template <class Archive>
  void archive(Archive& with) {
    with(value);
  }
};

Spans measure_spans(const Features& x, ConstVectorView weight, const Context& context) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Index p = x.cols();
  const Spans zero{RowArray::Constant(p, infinity), RowArray::Constant(p, -infinity), RowArray::Zero(p), 0};
  Pool<Scratch> pool;
  return sum_rows(x.blocks(), context, zero, [&](Spans& acc, Index b) {
    const auto scratch = pool.borrow();
    const RowBlock block = x.block(b, *scratch);
    for (Index i = 0; i < block.x.rows(); ++i) {
      const double a = weight_of(weight, block.first + i);
      if (a == 0) continue;
      const auto row = block.x.row(i).array();
      acc.low = acc.low.min(row);
      acc.high = acc.high.max(row);
      acc.sum += a * row;
      acc.weight += a;
    }
  });
}

/// sum_n a_n ((x_nj - m_j) / r_j)^2
Squares measure_squares(const Features& x, ConstVectorView weight, const RowArray& mean, const RowArray& inverse_range,
                        const Context& context) {
  Pool<Scratch> pool;
  return sum_rows(x.blocks(), context, Squares{RowArray::Zero(x.cols())}, [&](Squares& acc, Index b) {
    const auto scratch = pool.borrow();
    const RowBlock block = x.block(b, *scratch);
    for (Index i = 0; i < block.x.rows(); ++i) {
      const double a = weight_of(weight, block.first + i);
      if (a == 0) continue;
      acc.sum += a * ((block.x.row(i).array() - mean) * inverse_range).square();
    }
  });
}

/// Calls body(acc, column, value, weight) for the stored values of weighted rows, and sums over blocks.
template <class Acc, class Body>
Acc over_stored(const Features& x, ConstVectorView weight, const Context& context, Acc zero, Body&& body) {
  const Csr& csr = *x.storage().csr();
  return sum_rows(x.blocks(), context, std::move(zero), [&](Acc& acc, Index b) {
    for (Index i = x.first_row(b); i < x.first_row(b) + x.rows_in(b); ++i) {
      const double a = weight_of(weight, i);
      if (a == 0) continue;
      for (Index k = csr.row_start[at(i)]; k < csr.row_start[at(i) + 1]; ++k)
        body(acc, csr.column[at(k)], csr.value[at(k)], a);
    }
  });
}

/// About 8 blocks represent all.
Index sampling_stride(Index blocks) { return std::max<Index>(1, blocks / 8); }

RowArray inverse_of(const RowArray& x) { return (x > 0).select(1.0 / x, 0.0); }

}  // namespace

Standardised::Standardised(Features x, ConstVectorView weight, const DesignShape& shape, const Context& context)
    : x_(std::move(x)), offset_(shape.offset), centre_(shape.offset && shape.centre), route_(shape.route) {
  prepare_blas();
  if (is_sparse()) {
    if (!measure_sparse_quickly(weight, context)) measure_sparse(weight, context);
  } else if (shape.exact || !measure_quickly(weight, sampling_stride(x_.blocks()), context)) {
    if (!measure_quickly(weight, 1, context)) measure_dense(weight, context);
  } else {
    // A column that is constant in a sample may vary elsewhere.
    scale_ = (scale_.array() == 0).select(1.0, scale_);
    finite_ = false;
    sampled_ = true;
  }
  set_inverse();
}

Standardised::Standardised(Features x, const DesignShape& shape, Vector mean, const Vector& scale)
    : x_(std::move(x)),
      offset_(shape.offset),
      centre_(shape.offset && shape.centre),
      route_(shape.route),
      sampled_(true),
      mean_(std::move(mean)),
      scale_((scale.array() == 0).select(1.0, scale)) {
  prepare_blas();
  set_inverse();
}

void Standardised::set_inverse() {
  inverse_ = inverse_of(scale_.transpose().array()).matrix().transpose();
  // Means of up to 1000 standard deviations cost at most three of the sixteen digits of a score.
  folded_ = !is_sparse() && (mean_.array().abs() <= 1e3 * scale_.array() || scale_.array() == 0).all();
}

bool Standardised::measure_quickly(ConstVectorView weight, Index stride, const Context& context) {
  if (x_.rows() == 0) return false;
  Scratch scratch;
  // Sums relative to the first row, so that a large common part does not drown the squares.
  const RowArray shift = centre_ ? RowArray(x_.block(0, scratch).x.row(0).array()) : RowArray::Zero(x_.cols());
  const Index p = x_.cols();
  const Powers zero{RowArray::Zero(p), RowArray::Zero(p), RowArray::Zero(p)};
  Pool<Scratch> pool;
  const Powers powers = sum_rows((x_.blocks() + stride - 1) / stride, context, zero, [&](Powers& acc, Index b) {
    const auto lease = pool.borrow();
    const RowBlock block = x_.block(b * stride, *lease);
    for (Index i = 0; i < block.x.rows(); ++i) {
      const double a = weight_of(weight, block.first + i);
      ++acc.rows;
      if (a != 0) acc.add(block.x.row(i).data(), shift, a);
    }
  });
  // A sample may consist mostly of rows without weight: then it must not represent the others.
  if (!(powers.weight > 0) || (stride > 1 && 4 * powers.weighted < powers.rows)) return false;
  const RowArray square = powers.square / powers.weight;
  const RowArray mean = powers.sum / powers.weight;
  const RowArray variance = centre_ ? RowArray(square - mean.square()) : square;
  // Nothing overflowed, underflowed or cancelled; constant columns are exactly zero relative to the first row.
  const auto varies = square < 1e280 && square > 1e-280 && variance > 1e-6 * square;
  const auto constant = powers.largest == 0.0 && powers.square == 0.0;
  if (!(varies || constant).all()) return false;
  mean_ = centre_ ? Vector((shift + mean).matrix().transpose()) : Vector(Vector::Zero(p));
  scale_ = constant.select(0.0, variance.sqrt()).matrix().transpose();
  finite_ = weight.size() == 0;
  return true;
}

void Standardised::measure_dense(ConstVectorView weight, const Context& context) {
  const Spans spans = measure_spans(x_, weight, context);
  RowArray mean = RowArray::Zero(x_.cols());
  // The mean of a constant column is exactly its value, so that the centred column is exactly zero.
  if (centre_) mean = (spans.low == spans.high).select(spans.low, spans.sum / spans.weight);
  // Dividing by the range first keeps squares of huge and tiny values representable.
  const RowArray range = (spans.high - mean).abs().max((spans.low - mean).abs());
  const Squares squares = measure_squares(x_, weight, mean, inverse_of(range), context);
  mean_ = mean.matrix().transpose();
  scale_ = (range * (squares.sum / spans.weight).sqrt()).matrix().transpose();
}

bool Standardised::measure_sparse_quickly(ConstVectorView weight, const Context& context) {
  const Index p = x_.cols();
  const StoredSizes sizes = over_stored(x_, weight, context, StoredSizes{RowArray::Zero(p), RowArray::Zero(p)},
                                        [](StoredSizes& acc, Index j, double v, double a) {
                                          acc.square[j] += a * v * v;
                                          acc.largest[j] = std::max(acc.largest[j], std::abs(v));
                                        });
  // Nothing overflowed or underflowed.
  const auto usual = sizes.square > 1e-280 && sizes.square < 1e280;
  if (!(usual || (sizes.square == 0.0 && sizes.largest == 0.0)).all()) return false;
  const double total = weight.size() == 0 ? static_cast<double>(rows()) : weight.sum();
  mean_ = Vector::Zero(p);
  scale_ = (sizes.square / total).sqrt().matrix().transpose();
  finite_ = weight.size() == 0;
  return true;
}

void Standardised::measure_sparse(ConstVectorView weight, const Context& context) {
  const LargestStored range = over_stored(
      x_, weight, context, LargestStored{RowArray::Zero(x_.cols())},
      [](LargestStored& acc, Index j, double v, double) { acc.value[j] = std::max(acc.value[j], std::abs(v)); });
  const RowArray inverse_range = inverse_of(range.value);
  const Squares squares = over_stored(x_, weight, context, Squares{RowArray::Zero(x_.cols())},
                                      [&](Squares& acc, Index j, double v, double a) {
                                        const double unit = v * inverse_range[j];
                                        acc.sum[j] += a * unit * unit;
                                      });
  const double total = weight.size() == 0 ? static_cast<double>(rows()) : weight.sum();
  mean_ = Vector::Zero(x_.cols());
  scale_ = (range.value * (squares.sum / total).sqrt()).matrix().transpose();
}

Index Standardised::tile_rows() const {
  // A tile of 512 kB stays in cache between the two products.
  return std::clamp<Index>(65536 / std::max<Index>(size(), 1), 4, std::max<Index>(x_.block_rows(), 4));
}

Index Standardised::sparse_parts() const {
  const Index stored = csr().row_start[at(rows())];
  const Index parts = std::clamp<Index>(stored / (10 * std::max<Index>(size(), 1)), 4, 32);
  return std::clamp<Index>((rows() + sparse_tile - 1) / sparse_tile, 1, parts);
}

void Standardised::standardise(const RowBlock& block, Index first, Index rows, Matrix& tile) const {
  const Index p = x_.cols();
  tile.resize(rows, size());
  for (Index i = 0; i < rows; ++i) {
    tile.row(i).head(p) =
        ((block.x.row(first + i).transpose() - mean_).array() * inverse_.array()).matrix().transpose();
  }
  if (offset_) tile.col(p).setOnes();
}

void Standardised::share(Matrix& of_rows, const Context& context) const {
  share_rows(parts(), context, of_rows.data(), of_rows.cols(),
             [&](Index part) { return part == parts() ? rows() : part_rows(part).first; });
}

Standardised Standardised::thinned(Index stride) const {
  Standardised some = *this;
  some.stride_ = stride_ * stride;
  return some;
}

void Standardised::block(Index b, std::span<const Index> columns, Scratch& scratch, Matrix& tile) const {
  const RowBlock rows = x_.block(b * stride_, scratch);
  tile.resize(rows.x.rows(), static_cast<Index>(columns.size()));
  for (Index i = 0; i < tile.rows(); ++i) {
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const Index j = columns[k];
      tile(i, static_cast<Index>(k)) = j == x_.cols() ? 1.0 : (rows.x(i, j) - mean_[j]) * inverse_[j];
    }
  }
}

void Standardised::block(Index b, Scratch& scratch, Matrix& tile) const {
  const RowBlock rows = x_.block(b * stride_, scratch);
  standardise(rows, 0, rows.x.rows(), tile);
}

}  // namespace ecotone
