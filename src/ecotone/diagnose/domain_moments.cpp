#include "ecotone/diagnose/domain_moments.h"

#include <cmath>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"

namespace ecotone {
namespace {

constexpr std::size_t looked_at = 20;  // rows of a domain searched for a first value

/// A value of each feature in each domain, or 0; deviations from it keep their digits.
Matrix first_values(const Dataset& data) {
  std::vector<Index> rows;
  std::vector<std::size_t> seen(data.domain.names.size(), 0);
  for (Index i = 0; i < data.rows(); ++i) {
    const auto d = static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(i)]);
    if (seen[d]++ < looked_at) rows.push_back(i);
  }
  const Matrix x = data.x.copy(rows);
  Matrix first = Matrix::Zero(data.domain.count(), data.x.cols());
  for (auto i = static_cast<Index>(rows.size()) - 1; i >= 0; --i) {
    const auto d = data.domain.index[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)])];
    for (Index j = 0; j < x.cols(); ++j)
      if (std::isfinite(x(i, j))) first(d, j) = x(i, j);
  }
  return first;
}

/// Sums of x - shift and of its square.
struct Sums {
  Matrix count, sum, square;

  Sums(Index domains, Index cols)
      : count(Matrix::Zero(domains, cols)), sum(Matrix::Zero(domains, cols)), square(Matrix::Zero(domains, cols)) {}
  void merge(const Sums& other) {
    count += other.count;
    sum += other.sum;
    square += other.square;
  }
  void add(const double* row, Index domain, const Matrix& shift) {
    double* __restrict const n = count.row(domain).data();
    double* __restrict const s = sum.row(domain).data();
    double* __restrict const q = square.row(domain).data();
    const double* const from = shift.row(domain).data();
    for (Index j = 0; j < count.cols(); ++j) {
      const bool there = row[j] == row[j];
      const double value = there ? row[j] - from[j] : 0.0;
      n[j] += there ? 1.0 : 0.0;
      s[j] += value;
      q[j] += value * value;
    }
  }
};

void require_finite(const Dataset& data, const Sums& sums, const Context& context) {
  if (sums.square.allFinite()) return;
  // Rare: find the value in order to name it.
  const Index none = data.rows();
  std::vector<Index> row(static_cast<std::size_t>(data.x.blocks()), none), column(row.size(), 0);
  context.parallel(data.x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = data.x.block(b, scratch);
    const auto at = static_cast<std::size_t>(b);
    for (Index i = 0; i < block.x.rows() && row[at] == none; ++i)
      for (Index j = 0; j < block.x.cols() && row[at] == none; ++j)
        if (std::isinf(block.x(i, j)) || std::abs(block.x(i, j)) > 1e150) {
          row[at] = block.first + i;
          column[at] = j;
        }
  });
  for (std::size_t b = 0; b < row.size(); ++b)
    if (row[b] != none)
      data_error("non_finite", "diagnose: column '{}' is infinite or beyond 1e150 in row {}", data.x.name(column[b]),
                 origin_of(data.origin, row[b]) + 1);
}

}  // namespace

SampleMoments DomainMoments::without(Index domain, Index feature) const {
  SampleMoments all;
  for (Index d = 0; d < count.rows(); ++d)
    if (d != domain) all = all.merged(of(d, feature));
  return all;
}

DomainMoments domain_moments(const Dataset& data, const Context& context) {
  const Index domains = data.domain.count();
  const Index cols = data.x.cols();
  const auto bytes = static_cast<std::size_t>(3 * domains * cols) * sizeof(double);
  require_memory(bytes * static_cast<std::size_t>(context.threads() + 6), "diagnose",
                 fmt::format("the means of {} features in {} domains", cols, domains), "use fewer columns");
  const Matrix shift = first_values(data);
  const Sums sums = sum_blocks(data.x.blocks(), context, Sums(domains, cols), [&](Sums& acc, Index b) {
    Scratch scratch;
    const RowBlock block = data.x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i)
      acc.add(block.x.data() + i * block.x.outerStride(), data.domain.index[static_cast<std::size_t>(block.first + i)],
              shift);
  });
  require_finite(data, sums, context);
  DomainMoments result{sums.count, shift, Matrix::Zero(domains, cols)};
  for (Index d = 0; d < domains; ++d)
    for (Index j = 0; j < cols; ++j) {
      const double n = sums.count(d, j);
      if (n == 0) continue;
      const double mean = sums.sum(d, j) / n;
      result.mean(d, j) += mean;
      // A spread below the rounding error of the squares counts as zero.
      const double m2 = sums.square(d, j) - n * mean * mean;
      result.m2(d, j) = m2 > 1e-13 * sums.square(d, j) ? m2 : 0;
    }
  return result;
}

}  // namespace ecotone
