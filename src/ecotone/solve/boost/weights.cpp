#include <algorithm>
#include <cmath>

#include "ecotone/solve/boost/rows.h"

namespace ecotone {
namespace {

/// Multiples of the smallest weight up to this count as copies of rows.
constexpr double most_copies = 1e6;

}  // namespace

std::vector<double> scaled_weights(std::vector<double> weight, bool copies, const char* who) {
  if (weight.empty()) return weight;
  double total = 0;
  for (const double w : weight) total += w;
  if (!std::isfinite(total)) data_error("non_finite", "{}: the sum of the row weights is infinite", who);
  const auto range = std::minmax_element(weight.begin(), weight.end());
  const double least = *range.first;
  if (least == *range.second) return {};
  const bool counts = copies && std::all_of(weight.begin(), weight.end(), [least](double w) {
                        const double ratio = w / least;
                        return ratio <= most_copies && std::abs(ratio - std::round(ratio)) <= 1e-12 * ratio;
                      });
  const double mean = total / static_cast<double>(weight.size());
  for (double& w : weight) w = counts ? std::round(w / least) : w / mean;
  return weight;
}

}  // namespace ecotone
