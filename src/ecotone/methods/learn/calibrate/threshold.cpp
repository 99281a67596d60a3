#include "ecotone/methods/learn/calibrate/threshold.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

/// Weights of rows by truth and prediction.
struct Confusion {
  double true_positive = 0;
  double false_positive = 0;
  double true_negative = 0;
  double false_negative = 0;
};

double measured(ThresholdMeasure measure, const Confusion& c) {
  const double positive = c.true_positive + c.false_negative;
  const double negative = c.true_negative + c.false_positive;
  switch (measure) {
    case ThresholdMeasure::none:
      return 0;
    case ThresholdMeasure::accuracy:
      return (c.true_positive + c.true_negative) / (positive + negative);
    case ThresholdMeasure::balanced_accuracy: {
      if (positive <= 0) return c.true_negative / negative;
      if (negative <= 0) return c.true_positive / positive;
      return (c.true_positive / positive + c.true_negative / negative) / 2;
    }
    case ThresholdMeasure::f1: {
      // F1 = 2 TP / (2 TP + FP + FN)
      const double all = 2 * c.true_positive + c.false_positive + c.false_negative;
      return all > 0 ? 2 * c.true_positive / all : 0;
    }
  }
  internal_error("threshold measure {} is unknown", static_cast<int>(measure));
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

double best_threshold(ThresholdMeasure measure, ConstVectorView probability, ConstVectorView positive,
                      ConstVectorView weight) {
  if (measure == ThresholdMeasure::none) return 0.5;
  std::vector<Index> order(static_cast<std::size_t>(probability.size()));
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](Index i) { return weight[i] <= 0; });
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return probability[a] < probability[b]; });
  // From a cut below all rows upwards: rows that are passed become negative.
  Confusion counts;
  for (const Index i : order) (positive[i] > 0 ? counts.true_positive : counts.false_positive) += weight[i];
  std::vector<Cut> cuts;
  double low = 0;
  for (std::size_t k = 0; k <= order.size(); ++k) {
    const double high = k < order.size() ? probability[order[k]] : 1;
    const double at = cut_between(low, high);
    if (high > low && at > 0 && at < 1) cuts.push_back({at, measured(measure, counts)});
    if (k == order.size()) break;
    const Index i = order[k];
    (positive[i] > 0 ? counts.true_positive : counts.false_positive) -= weight[i];
    (positive[i] > 0 ? counts.false_negative : counts.true_negative) += weight[i];
    low = high;
  }
  double best = -1;
  for (const Cut& cut : cuts) best = std::max(best, cut.value);
  double chosen = 0.5;
  double away = 1;
  for (const Cut& cut : cuts) {
    // Sums of weights differ by rounding.
    if (cut.value < best - 1e-12 || std::abs(cut.at - 0.5) >= away) continue;
    chosen = cut.at;
    away = std::abs(cut.at - 0.5);
  }
  return chosen;
}

}  // namespace ecotone
