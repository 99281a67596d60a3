#include "ecotone/methods/prepare/column_moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/numbers.h"

namespace ecotone {

namespace {

/// Mergeable moments of x - shift. A shift near the values keeps all digits of small deviations from a large offset.
class ShiftedMoments {
 public:
  explicit ShiftedMoments(Vector shift)
      : shift_(std::move(shift)),
        count_(Vector::Zero(shift_.size())),
        mean_(Vector::Zero(shift_.size())),
        m2_(Vector::Zero(shift_.size())),
        low_(Vector::Constant(shift_.size(), infinity)),
        high_(Vector::Constant(shift_.size(), -infinity)) {}

  /// Adds rows: their mean, then their deviations from it, then a merge.
  void add(ConstMatrixView x) {
    ShiftedMoments block(shift_);
    block.add_sums(x);
    block.add_deviations(x);
    merge(block);
  }

  void merge(const ShiftedMoments& other) {
    for (Index j = 0; j < count_.size(); ++j) {
      if (other.count_[j] == 0) continue;
      if (count_[j] == 0) {
        count_[j] = other.count_[j];
        mean_[j] = other.mean_[j];
        m2_[j] = other.m2_[j];
        continue;
      }
      const double n = count_[j] + other.count_[j];
      // m2 = m2_a + m2_b + d^2 n_a n_b / n,  mean = mean_a + d n_b / n,  d = mean_b - mean_a
      const double d = other.mean_[j] - mean_[j];
      m2_[j] += other.m2_[j] + d * d * (count_[j] * (other.count_[j] / n));
      mean_[j] += d * (other.count_[j] / n);
      count_[j] = n;
    }
    low_ = low_.cwiseMin(other.low_);
    high_ = high_.cwiseMax(other.high_);
  }

  template <class Archive>
  void archive(Archive& with) {
    with(shift_, count_, mean_, m2_, low_, high_);
  }

  ColumnMoments moments() const { return {count_, shift_ + mean_, m2_, low_, high_}; }

 private:
  Vector shift_;
  Vector count_;
  Vector mean_;
  Vector m2_;
  Vector low_;
  Vector high_;

  void add_sums(ConstMatrixView x) {
    for (Index i = 0; i < x.rows(); ++i) {
      const double* row = x.data() + i * x.outerStride();
      for (Index j = 0; j < x.cols(); ++j) {
        const double value = row[j];
        const bool there = value == value;
        count_[j] += there ? 1.0 : 0.0;
        mean_[j] += there ? value - shift_[j] : 0.0;
        low_[j] = value < low_[j] ? value : low_[j];
        high_[j] = value > high_[j] ? value : high_[j];
      }
    }
    mean_.array() /= count_.array().max(1.0);
  }

  void add_deviations(ConstMatrixView x) {
    for (Index i = 0; i < x.rows(); ++i) {
      const double* row = x.data() + i * x.outerStride();
      for (Index j = 0; j < x.cols(); ++j) {
        const double value = row[j];
        const double deviation = value == value ? (value - shift_[j]) - mean_[j] : 0.0;
        m2_[j] += deviation * deviation;
      }
    }
  }
};

/// The first value of each column in the first block, 0 if it has none.
Vector first_values(const Features& x) {
  Vector first = Vector::Zero(x.cols());
  if (x.rows() == 0) return first;
  Scratch scratch;
  const RowBlock block = x.block(0, scratch);
  for (Index j = 0; j < x.cols(); ++j) {
    Index i = 0;
    while (i < block.x.rows() && !std::isfinite(block.x(i, j))) ++i;
    if (i < block.x.rows()) first[j] = block.x(i, j);
  }
  return first;
}

ColumnMoments dense_moments(const Features& x, const Context& context) {
  const ShiftedMoments sum =
      sum_rows(x.blocks(), context, ShiftedMoments(first_values(x)), [&](ShiftedMoments& acc, Index b) {
        Scratch scratch;
        acc.add(x.block(b, scratch).x);
      });
  return sum.moments();
}

/// Sums of one pass over stored entries, per column.
struct StoredSums {
  Vector stored;  ///< entries that are not NaN
  Vector missing;
  Vector sum;
  Vector low;
  Vector high;

  explicit StoredSums(Index cols)
      : stored(Vector::Zero(cols)),
        missing(Vector::Zero(cols)),
        sum(Vector::Zero(cols)),
        low(Vector::Constant(cols, infinity)),
        high(Vector::Constant(cols, -infinity)) {}

  void add(Index column, double value) {
    if (std::isnan(value)) {
      missing[column] += 1;
      return;
    }
    stored[column] += 1;
    sum[column] += value;
    low[column] = std::min(low[column], value);
    high[column] = std::max(high[column], value);
  }
  void merge(const StoredSums& other) {
    stored += other.stored;
    missing += other.missing;
    sum += other.sum;
    low = low.cwiseMin(other.low);
    high = high.cwiseMax(other.high);
  }
  template <class Archive>
  void archive(Archive& with) {
    with(stored, missing, sum, low, high);
  }
};

/// Calls visit(column, value) for every stored entry of a block.
template <class Visit>
void for_stored(const Features& x, Index block, Visit&& visit) {
  const Csr& csr = *x.storage().csr();
  const auto first = static_cast<std::size_t>(x.first_row(block));
  const auto end = csr.row_start[first + static_cast<std::size_t>(x.rows_in(block))];
  for (auto k = static_cast<std::size_t>(csr.row_start[first]); k < static_cast<std::size_t>(end); ++k) {
    visit(csr.column[k], csr.value[k]);
  }
}

/// Work in proportion to the stored entries: two passes over them, zeros by counting.
ColumnMoments sparse_moments(const Features& x, const Context& context) {
  const StoredSums sums = sum_rows(x.blocks(), context, StoredSums(x.cols()), [&](StoredSums& acc, Index b) {
    for_stored(x, b, [&](Index column, double value) { acc.add(column, value); });
  });
  ColumnMoments moments{
      (static_cast<double>(x.rows()) - sums.missing.array()).matrix(), Vector::Zero(x.cols()), {}, sums.low, sums.high};
  for (Index j = 0; j < x.cols(); ++j) {
    if (moments.count[j] == 0) continue;
    moments.mean[j] = sums.sum[j] / moments.count[j];
    if (sums.stored[j] == moments.count[j]) continue;
    moments.low[j] = std::min(moments.low[j], 0.0);
    moments.high[j] = std::max(moments.high[j], 0.0);
  }
  moments.m2 = sum_rows(x.blocks(), context, Vector(Vector::Zero(x.cols())), [&](Vector& acc, Index b) {
    for_stored(x, b, [&](Index j, double value) {
      if (!std::isnan(value)) acc[j] += (value - moments.mean[j]) * (value - moments.mean[j]);
    });
  });
  // The zeros that are not stored: each adds mean^2.
  moments.m2.array() += (moments.count - sums.stored).array() * moments.mean.array().square();
  return moments;
}

}  // namespace

Vector ColumnMoments::deviation() const { return (m2.array() / count.array().max(1.0)).sqrt(); }

ColumnMoments column_moments(const Features& x, const Context& context) {
  ColumnMoments moments = x.is_sparse() ? sparse_moments(x, context) : dense_moments(x, context);
  for (Index j = 0; j < x.cols(); ++j) {
    if (moments.count[j] == 0) {
      moments.mean[j] = moments.m2[j] = moments.low[j] = moments.high[j] = 0;
    } else if (moments.low[j] == moments.high[j]) {
      // A column with a single value has that mean and no spread, regardless of rounding.
      moments.mean[j] = moments.low[j];
      moments.m2[j] = 0;
    }
  }
  return moments;
}

}  // namespace ecotone
