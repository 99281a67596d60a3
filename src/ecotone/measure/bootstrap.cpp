#include "ecotone/measure/bootstrap.h"

#include <algorithm>
#include <cmath>

#include "ecotone/measure/intervals.h"

namespace ecotone {

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
  return Bounds{std::min(value, sorted_quantile(values, 0.025)), std::max(value, sorted_quantile(values, 0.975))};
}

}  // namespace ecotone
