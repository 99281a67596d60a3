#include "ecotone/measure/weighted_quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ecotone/base/error.h"

namespace ecotone {
namespace {

void check_scores(std::span<const double> scores, RowWeights weights) {
  if (scores.empty()) data_error("empty_data", "quantile: there are no scores");
  if (!weights.empty() && weights.size() != scores.size())
    data_error("shape_mismatch", "quantile: {} weights for {} scores", weights.size(), scores.size());
  for (const double score : scores)
    if (!std::isfinite(score)) data_error("non_finite", "quantile: a score is {}", score);
  for (const double weight : weights) {
    if (!std::isfinite(weight)) data_error("non_finite", "quantile: a weight is {}", weight);
    if (weight < 0) data_error("negative_weight", "quantile: a weight is {}", weight);
  }
}

}  // namespace

WeightedQuantiles::WeightedQuantiles(std::span<const double> scores, RowWeights weights) {
  check_scores(scores, weights);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (weight_at(weights, i) > 0) order.push_back(i);
  if (order.empty()) data_error("zero_weights", "quantile: all weights are 0");
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  double sum = 0;
  for (const std::size_t i : order) {
    sum += weight_at(weights, i);
    if (!scores_.empty() && scores_.back() == scores[i]) {
      cumulative_.back() = sum;
    } else {
      scores_.push_back(scores[i]);
      cumulative_.push_back(sum);
    }
  }
}

double WeightedQuantiles::at(double level, double weight_inf) const {
  if (!(level > 0 && level <= 1)) data_error("bad_level", "quantile: the level must be in (0, 1], got {}", level);
  if (!(weight_inf >= 0)) data_error("negative_weight", "quantile: the weight at infinity is {}", weight_inf);
  const double all = total() + weight_inf;
  const auto reached = std::ranges::lower_bound(cumulative_, level * all - quantile_slack * all);
  if (reached == cumulative_.end()) return std::numeric_limits<double>::infinity();
  return scores_[static_cast<std::size_t>(reached - cumulative_.begin())];
}

double WeightedQuantiles::weight_from(double score) const {
  const auto first = std::ranges::lower_bound(scores_, score);
  if (first == scores_.begin()) return total();
  return total() - cumulative_[static_cast<std::size_t>(first - scores_.begin()) - 1];
}

}  // namespace ecotone
