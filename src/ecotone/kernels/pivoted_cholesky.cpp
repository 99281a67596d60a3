#include "ecotone/kernels/pivoted_cholesky.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/memory.h"

namespace ecotone {
namespace {

constexpr Index pivot_strip = 1024;
// Relative to the largest diagonal entry: anything smaller is rounding.
constexpr double least_pivot = 1e-15;

/// What a strip of rows has left: the sum of the diagonal and its largest entry (the first, if several are equal).
struct Rest {
  double sum = 0;
  double largest = 0;
  Index row = 0;

  void merge(const Rest& other) {
    sum += other.sum;
    if (other.largest > largest) {
      largest = other.largest;
      row = other.row;
    }
  }
};

Rest rest_of(const Vector& diagonal, Index first, Index last) {
  Rest rest;
  for (Index i = first; i < last; ++i) rest.merge({diagonal[i], diagonal[i], i});
  return rest;
}

}  // namespace

PivotedCholesky pivoted_cholesky(const Kernel& kernel, ConstMatrixView x, double residual, const Context& context) {
  const Index n = x.rows();
  const Index strips = (n + pivot_strip - 1) / pivot_strip;
  Vector left = kernel_diagonal(kernel, x);
  Rest rest = rest_of(left, 0, n);
  const double trace = rest.sum;
  const double smallest = least_pivot * rest.largest;
  PivotedCholesky result;
  Matrix rows(0, n);  // G', grown by doubling
  Index rank = 0;
  while (rank < n && rest.sum > residual * trace && rest.largest > smallest) {
    context.check_cancelled();
    if (rank == rows.rows()) {
      const Index more = std::min(n, std::max<Index>(16, 2 * rank));
      require_memory(static_cast<std::size_t>(more + rank) * static_cast<std::size_t>(n) * sizeof(double),
                     "pivoted_cholesky", fmt::format("a factor of {} rows and rank {}", n, more), "use fewer rows");
      rows.conservativeResize(more, n);
    }
    const Index pivot = rest.row;
    result.pivots.push_back(pivot);
    const double root = std::sqrt(left[pivot]);
    const Vector at_pivot = rows.col(pivot).head(rank);
    const KernelTiles column(kernel, x.row(pivot), x);
    rest = sum_blocks(strips, context, Rest{}, [&](Rest& sum, Index s) {
      const Index first = s * pivot_strip;
      const Index count = std::min(pivot_strip, n - first);
      // g = (k_pivot - G g_pivot) / root
      auto g = rows.block(rank, first, 1, count);
      column.tile(0, first, g);
      g.noalias() -= at_pivot.transpose() * rows.block(0, first, rank, count);
      g /= root;
      for (Index i = first; i < first + count; ++i) left[i] = std::max(0.0, left[i] - rows(rank, i) * rows(rank, i));
      if (pivot >= first && pivot < first + count) left[pivot] = 0;
      sum.merge(rest_of(left, first, first + count));
    });
    ++rank;
  }
  result.factor = rows.topRows(rank).transpose();
  result.residual = trace > 0 ? rest.sum / trace : 0;
  return result;
}

}  // namespace ecotone
