#include "ecotone/solve/robust/mixture.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ecotone {

Vector worst_mixture(const MixtureSet& set, ConstVectorView losses) {
  std::vector<Index> order(static_cast<std::size_t>(losses.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](Index a, Index b) { return losses[a] > losses[b]; });
  Vector r = Vector::Zero(losses.size());
  double left = 1;
  for (const Index u : order) {
    if (left <= 0) break;
    if (set.share[u] <= 0) continue;
    const double taken = std::min(left, set.share[u] * set.cap);
    r[u] = taken / set.share[u];
    left -= taken;
  }
  return r;
}

Vector nearest_mixture(const MixtureSet& set, ConstVectorView losses, ConstVectorView centre, double mu) {
  const Vector point = centre + losses / mu;
  const auto at_level = [&](double t) { return Vector((point.array() - t).max(0.0).min(set.cap)); };
  // sum p r falls in t, from cap (>= 1) to 0.
  double low = point.minCoeff() - set.cap;
  double high = point.maxCoeff();
  for (int round = 0; round < 200; ++round) {
    const double middle = 0.5 * (low + high);
    if (!(low < middle && middle < high)) break;
    (set.share.dot(at_level(middle)) > 1 ? low : high) = middle;
  }
  Vector r = at_level(low);
  // What rounding leaves goes to the units that are between the bounds.
  const auto inside = (r.array() > 0 && r.array() < set.cap).cast<double>();
  const double mass = (inside * set.share.array()).sum();
  if (mass > 0) r = (r.array() + inside * ((1 - set.share.dot(r)) / mass)).max(0.0).min(set.cap);
  return r;
}

}  // namespace ecotone
