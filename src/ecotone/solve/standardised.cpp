#include "ecotone/solve/standardised.h"

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
};

struct Squares {
  RowArray sum;
  void merge(const Squares& other) { sum += other.sum; }
};

Spans measure_spans(const Features& x, ConstVectorView weight, const Context& context) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Index p = x.cols();
  const Spans zero{RowArray::Constant(p, infinity), RowArray::Constant(p, -infinity), RowArray::Zero(p), 0};
  Pool<Scratch> pool;
  return sum_blocks(x.blocks(), context, zero, [&](Spans& acc, Index b) {
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
  return sum_blocks(x.blocks(), context, Squares{RowArray::Zero(x.cols())}, [&](Squares& acc, Index b) {
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
  return sum_blocks(x.blocks(), context, std::move(zero), [&](Acc& acc, Index b) {
    for (Index i = x.first_row(b); i < x.first_row(b) + x.rows_in(b); ++i) {
      const double a = weight_of(weight, i);
      if (a == 0) continue;
      for (Index k = csr.row_start[static_cast<std::size_t>(i)]; k < csr.row_start[static_cast<std::size_t>(i) + 1];
           ++k)
        body(acc, csr.column[static_cast<std::size_t>(k)], csr.value[static_cast<std::size_t>(k)], a);
    }
  });
}

RowArray inverse_of(const RowArray& x) { return (x > 0).select(1.0 / x, 0.0); }

}  // namespace

Standardised::Standardised(Features x, ConstVectorView weight, bool offset, DesignRoute route, const Context& context)
    : x_(std::move(x)), offset_(offset), route_(route) {
  use_one_blas_thread();
  if (route == DesignRoute::dense) {
    measure_dense(weight, context);
  } else {
    measure_sparse(weight, context);
  }
  inverse_ = inverse_of(scale_.transpose().array()).matrix().transpose();
}

void Standardised::measure_dense(ConstVectorView weight, const Context& context) {
  const Spans spans = measure_spans(x_, weight, context);
  RowArray mean = RowArray::Zero(x_.cols());
  // A constant column's mean is its value exactly, so that the centred column is exactly zero.
  if (offset_) mean = (spans.low == spans.high).select(spans.low, spans.sum / spans.weight);
  // Dividing by the range first keeps squares of huge and tiny values representable.
  const RowArray range = (spans.high - mean).abs().max((spans.low - mean).abs());
  const Squares squares = measure_squares(x_, weight, mean, inverse_of(range), context);
  mean_ = mean.matrix().transpose();
  scale_ = (range * (squares.sum / spans.weight).sqrt()).matrix().transpose();
}

void Standardised::measure_sparse(ConstVectorView weight, const Context& context) {
  struct Largest {
    RowArray value;
    void merge(const Largest& other) { value = value.max(other.value); }
  };
  const Largest range =
      over_stored(x_, weight, context, Largest{RowArray::Zero(x_.cols())},
                  [](Largest& acc, Index j, double v, double) { acc.value[j] = std::max(acc.value[j], std::abs(v)); });
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
  // A tile of 256 kB stays in cache between the two products.
  return std::clamp<Index>(32768 / std::max<Index>(size(), 1), 4, std::max<Index>(x_.block_rows(), 4));
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

void Standardised::block(Index b, Scratch& scratch, Matrix& tile) const {
  const RowBlock rows = x_.block(b, scratch);
  standardise(rows, 0, rows.x.rows(), tile);
}

}  // namespace ecotone
