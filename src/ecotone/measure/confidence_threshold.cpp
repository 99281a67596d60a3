#include "ecotone/measure/confidence_threshold.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "ecotone/measure/metrics.h"
#include "ecotone/measure/weighted_quantile.h"

namespace ecotone {

double ConfidenceThreshold::accuracy(std::span<const double> score) const {
  double sum = 0;
  for (const double s : score) sum += s > threshold ? 1 : s == threshold ? share_at : 0;
  return sum / static_cast<double>(score.size());
}

ConfidenceThreshold confidence_threshold(std::span<const double> score, std::span<const double> correct,
                                         RowWeights weight) {
  const double goal = weighted_mean(correct, weight) * total_weight(weight, score.size());
  const double slack = quantile_slack * total_weight(weight, score.size());
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  ConfidenceThreshold result;
  double above = 0;
  for (std::size_t first = 0; first < order.size();) {
    double own = 0;
    std::size_t last = first;
    for (; last < order.size() && score[order[last]] == score[order[first]]; ++last)
      own += weight_at(weight, order[last]);
    result = {score[order[first]], own > 0 ? std::clamp((goal - above) / own, 0.0, 1.0) : 0};
    above += own;
    if (above >= goal - slack) break;
    first = last;
  }
  return result;
}

}  // namespace ecotone
