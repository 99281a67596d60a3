#include "ecotone/measure/confusion.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ecotone {

namespace {

std::optional<double> ratio(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

/// A cut between `low` and `high` that puts high on the positive side: 0.5 where it can, else the middle.
double cut_between(double low, double high) {
  if (low < 0.5 && 0.5 <= high) return 0.5;
  const double middle = low + (high - low) / 2;
  return middle > low ? middle : high;
}

struct Cut {
  double at;
  double value;
};

}  // namespace

std::optional<double> sensitivity(const Confusion& c) { return ratio(c.true_positive, c.positive()); }
std::optional<double> specificity(const Confusion& c) { return ratio(c.true_negative, c.negative()); }
std::optional<double> ppv(const Confusion& c) { return ratio(c.true_positive, c.true_positive + c.false_positive); }
std::optional<double> npv(const Confusion& c) { return ratio(c.true_negative, c.true_negative + c.false_negative); }
std::optional<double> f1(const Confusion& c) {
  return ratio(2 * c.true_positive, 2 * c.true_positive + c.false_positive + c.false_negative);
}

std::optional<double> best_cut(ConstVectorView probability, ConstVectorView positive, ConstVectorView weight,
                               const std::function<std::optional<double>(const Confusion&)>& value) {
  std::vector<Index> order(static_cast<std::size_t>(probability.size()));
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](Index i) { return weight[i] <= 0; });
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return probability[a] < probability[b]; });
  // From a cut below all rows upwards: rows that are passed become negative.
  Confusion counts;
  for (const Index i : order) counts.add(positive[i] > 0, true, weight[i]);
  std::vector<Cut> cuts;
  double low = 0;
  for (std::size_t k = 0; k <= order.size(); ++k) {
    const double high = k < order.size() ? probability[order[k]] : 1;
    const double at = cut_between(low, high);
    if (high > low && at > 0 && at < 1)
      if (const auto found = value(counts)) cuts.push_back({at, *found});
    if (k == order.size()) break;
    const Index i = order[k];
    counts.add(positive[i] > 0, true, -weight[i]);
    counts.add(positive[i] > 0, false, weight[i]);
    low = high;
  }
  if (cuts.empty()) return {};
  const double best = std::ranges::max_element(cuts, {}, &Cut::value)->value;
  // Sums of weights differ by rounding.
  std::erase_if(cuts, [&](const Cut& cut) { return cut.value < best - 1e-12; });
  return std::ranges::min_element(cuts, {}, [](const Cut& cut) { return std::abs(cut.at - 0.5); })->at;
}

}  // namespace ecotone
