#include "ecotone/methods/prepare/impute/medians.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace ecotone {

namespace {

/// Median of `values` and of `zeros` zeros beside them; reorders the values.
double median(std::span<double> values, Index zeros) {
  const auto end = std::remove_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  std::sort(values.begin(), end);
  const Index stored = end - values.begin();
  const Index n = stored + zeros;
  if (n == 0) return 0;
  const Index negative = std::lower_bound(values.begin(), end, 0.0) - values.begin();
  // k-th smallest, with the zeros after the negative values
  const auto smallest = [&](Index k) {
    if (k < negative) return values[at(k)];
    return k < negative + zeros ? 0.0 : values[at(k - zeros)];
  };
  const double low = smallest((n - 1) / 2);
  const double high = smallest(n / 2);
  return low == high ? low : low / 2 + high / 2;
}

/// Values of all columns, column after column, from the stored entries.
Vector sparse_medians(const Features& x, const Context& context) {
  const Csr& csr = *x.storage().csr();
  const auto entries = static_cast<std::size_t>(csr.row_start[at(x.rows())]);
  std::vector<std::size_t> start(static_cast<std::size_t>(x.cols()) + 1, 0);
  for (std::size_t k = 0; k < entries; ++k) ++start[at(csr.column[k]) + 1];
  for (std::size_t j = 1; j < start.size(); ++j) start[j] += start[j - 1];
  std::vector<double> values(entries);
  std::vector<std::size_t> next(start.begin(), start.end() - 1);
  for (std::size_t k = 0; k < entries; ++k) values[next[at(csr.column[k])]++] = csr.value[k];

  Vector medians(x.cols());
  context.parallel(x.cols(), [&](Index j) {
    const auto column = static_cast<std::size_t>(j);
    const std::span<double> stored(values.data() + start[column], values.data() + start[column + 1]);
    medians[j] = median(stored, x.rows() - static_cast<Index>(stored.size()));
  });
  return medians;
}

}  // namespace

Vector column_medians(const Features& x, const Context& context) {
  if (x.is_sparse()) return sparse_medians(x, context);
  // As many columns at once as fill about 32 MB: wide data need several passes, but never a second copy of everything.
  const Index at_once =
      std::clamp<Index>((Index{4} << 20) / std::max<Index>(x.rows(), 1), 1, std::max<Index>(x.cols(), 1));
  Vector medians(x.cols());
  Matrix columns(at_once, x.rows());
  for (Index first = 0; first < x.cols(); first += at_once) {
    const Index width = std::min(at_once, x.cols() - first);
    context.parallel(x.blocks(), [&](Index b) {
      Scratch scratch;
      const RowBlock block = x.block(b, scratch);
      columns.block(0, block.first, width, block.x.rows()) = block.x.middleCols(first, width).transpose();
    });
    context.parallel(width, [&](Index j) {
      medians[first + j] = median({columns.row(j).data(), static_cast<std::size_t>(x.rows())}, 0);
    });
  }
  return medians;
}

}  // namespace ecotone
