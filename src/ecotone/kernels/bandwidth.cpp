#include "ecotone/kernels/bandwidth.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/linalg/distances.h"

namespace ecotone {
namespace {

constexpr Index most_rows = 1000;

std::vector<Index> sampled_rows(Index rows, const Context& context) {
  std::vector<Index> chosen(static_cast<std::size_t>(std::min(rows, most_rows)));
  std::iota(chosen.begin(), chosen.end(), Index{0});
  if (rows <= most_rows) return chosen;
  Random random = context.random("median_bandwidth");
  chosen = random.sample(rows, most_rows);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// The middle value, or the mean of the two middle ones.
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// Distances of all pairs of rows, row by row: Euclidean, or |x - z|_1 for the laplacian kernel.
std::vector<double> distances_of(ConstMatrixView x, KernelKind kind, const Context& context) {
  std::vector<double> distances(static_cast<std::size_t>(x.rows() * std::max<Index>(0, x.rows() - 1) / 2));
  const auto row = [&](Index i) { return distances.data() + i * (i - 1) / 2; };
  if (kind == KernelKind::laplacian) {
    context.parallel(x.rows(), [&](Index i) {
      for (Index j = 0; j < i; ++j) row(i)[j] = (x.row(i) - x.row(j)).lpNorm<1>();
    });
    return distances;
  }
  const Matrix squared = squared_distances(x, context);
  for (Index i = 1; i < x.rows(); ++i)
    for (Index j = 0; j < i; ++j) row(i)[j] = std::sqrt(squared(i, j));
  return distances;
}

Bandwidth of_sample(ConstMatrixView x, KernelKind kind, const Context& context) {
  std::vector<double> distances = distances_of(x, kind, context);
  Bandwidth result{1, x.rows(), true};
  if (distances.empty()) return result;
  result.sigma = median_in_place(distances);
  result.fallback = !(result.sigma > 0);
  if (!result.fallback) return result;
  std::erase_if(distances, [](double d) { return !(d > 0); });
  result.sigma = distances.empty() ? 1 : median_in_place(distances);
  return result;
}

}  // namespace

Bandwidth median_bandwidth(ConstMatrixView x, const Context& context) {
  if (x.rows() <= most_rows) return of_sample(x, KernelKind::rbf, context);
  const std::vector<Index> rows = sampled_rows(x.rows(), context);
  Matrix sample(most_rows, x.cols());
  for (Index i = 0; i < most_rows; ++i) sample.row(i) = x.row(rows[at(i)]);
  return of_sample(sample, KernelKind::rbf, context);
}

Bandwidth median_bandwidth(const Features& x, const Context& context) {
  return median_bandwidth(x, KernelKind::rbf, context);
}

Bandwidth median_bandwidth(const Features& x, KernelKind kind, const Context& context) {
  const Matrix sample = x.copy(sampled_rows(x.rows(), context));
  if (!sample.allFinite()) data_error("non_finite", "median distance: a row is not finite");
  return of_sample(sample, kind, context);
}

}  // namespace ecotone
