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
double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

Bandwidth of_sample(ConstMatrixView x, const Context& context) {
  const Matrix squared = squared_distances(x, context);
  std::vector<double> distances;
  distances.reserve(static_cast<std::size_t>(x.rows() * (x.rows() - 1) / 2));
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < i; ++j) distances.push_back(std::sqrt(squared(i, j)));
  Bandwidth result{1, x.rows(), true};
  if (distances.empty()) return result;
  result.sigma = median(distances);
  result.fallback = !(result.sigma > 0);
  if (!result.fallback) return result;
  std::erase_if(distances, [](double d) { return !(d > 0); });
  result.sigma = distances.empty() ? 1 : median(distances);
  return result;
}

}  // namespace

Bandwidth median_bandwidth(ConstMatrixView x, const Context& context) {
  if (x.rows() <= most_rows) return of_sample(x, context);
  const std::vector<Index> rows = sampled_rows(x.rows(), context);
  Matrix sample(most_rows, x.cols());
  for (Index i = 0; i < most_rows; ++i) sample.row(i) = x.row(rows[static_cast<std::size_t>(i)]);
  return of_sample(sample, context);
}

Bandwidth median_bandwidth(const Features& x, const Context& context) {
  const Matrix sample = x.take(sampled_rows(x.rows(), context)).to_matrix();
  if (!sample.allFinite()) data_error("non_finite", "median distance: a row is not finite");
  return of_sample(sample, context);
}

}  // namespace ecotone
