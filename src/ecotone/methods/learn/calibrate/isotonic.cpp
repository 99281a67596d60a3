#include <algorithm>
#include <numeric>
#include <vector>

#include "ecotone/methods/learn/calibrate/score_maps.h"

namespace ecotone {

namespace {

/// Neighbouring rows that get one value: their weighted mean.
struct Pool {
  double first;
  double last;
  double weight;
  double sum;

  double mean() const { return sum / weight; }
};

/// One pool per distinct score of rows that have weight, ascending.
std::vector<Pool> distinct(ConstVectorView score, ConstVectorView y, ConstVectorView weight) {
  std::vector<Index> order(static_cast<std::size_t>(score.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return score[a] < score[b]; });
  std::vector<Pool> pools;
  for (const Index i : order) {
    if (weight[i] <= 0) continue;
    if (pools.empty() || pools.back().last < score[i]) pools.push_back({score[i], score[i], 0, 0});
    pools.back().weight += weight[i];
    pools.back().sum += weight[i] * y[i];
  }
  return pools;
}

}  // namespace

IsotonicMap fit_isotonic(ConstVectorView score, ConstVectorView y, ConstVectorView weight) {
  std::vector<Pool> pools;
  for (Pool next : distinct(score, y, weight)) {
    // A pool that is not below the next one joins it.
    while (!pools.empty() && pools.back().mean() >= next.mean()) {
      const Pool& before = pools.back();
      next = {before.first, next.last, before.weight + next.weight, before.sum + next.sum};
      pools.pop_back();
    }
    pools.push_back(next);
  }
  std::vector<double> at;
  std::vector<double> value;
  for (const Pool& pool : pools) {
    const double mean = std::clamp(pool.mean(), 0.0, 1.0);
    at.push_back(pool.first);
    value.push_back(mean);
    if (pool.last > pool.first) {
      at.push_back(pool.last);
      value.push_back(mean);
    }
  }
  const auto knots = static_cast<Index>(at.size());
  return {Eigen::Map<const Vector>(at.data(), knots), Eigen::Map<const Vector>(value.data(), knots)};
}

double IsotonicMap::operator()(double at) const {
  const double* begin = score.data();
  const Index above = std::upper_bound(begin, begin + score.size(), at) - begin;
  if (above == 0) return probability[0];
  if (above == score.size()) return probability[above - 1];
  const double low = probability[above - 1];
  const double high = probability[above];
  // Halves, so that a difference of huge scores does not overflow.
  const double part = (at / 2 - score[above - 1] / 2) / (score[above] / 2 - score[above - 1] / 2);
  return std::clamp(low + (high - low) * part, low, high);
}

}  // namespace ecotone
