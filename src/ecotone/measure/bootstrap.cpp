#include "ecotone/measure/bootstrap.h"

#include <algorithm>
#include <cmath>

namespace ecotone {

namespace {

/// The quantile q of sorted values, linear between neighbours.
double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<double> resample_counts(Index units, Random random) {
  std::vector<double> counts(at(units), 0.0);
  for (Index i = 0; i < units; ++i) ++counts[random.below(static_cast<std::uint64_t>(units))];
  return counts;
}

std::optional<Bounds> percentile_bounds(std::span<const double> resampled, double value) {
  std::vector<double> values;
  for (const double each : resampled)
    if (!std::isnan(each)) values.push_back(each);
  if (values.empty() || 10 * values.size() < 9 * resampled.size()) return {};
  std::ranges::sort(values);
  return Bounds{std::min(value, quantile(values, 0.025)), std::max(value, quantile(values, 0.975))};
}

}  // namespace ecotone
