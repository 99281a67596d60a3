#pragma once

#include <span>
#include <vector>

#include "ecotone/measure/row_weights.h"

namespace ecotone {

/// Two sums of weights that differ by less than this share of their total count as equal: 0.9 * 10 is 9 and 0.1 + 0.2
/// is 0.3. The same slack decides whether a score reaches a quantile.
inline constexpr double quantile_slack = 1e-12;

/// Quantiles of weighted scores, and of the same scores with more weight at infinity, from one sort.
class WeightedQuantiles {
 public:
  /// Scores of weight 0 are left out. Data errors: `empty_data`, `shape_mismatch`, `non_finite`, `negative_weight`,
  /// `zero_weights`.
  explicit WeightedQuantiles(std::span<const double> scores, RowWeights weights = {});

  /// The least score t with (sum of w_i over s_i <= t) >= level (sum of w + weight_inf); infinite if there is none.
  /// All copies of a score count together. Data errors `bad_level` unless 0 < level <= 1, `negative_weight`.
  double at(double level, double weight_inf = 0) const;
  /// The sum of w_i over s_i >= score.
  double weight_from(double score) const;
  double total() const { return cumulative_.back(); }
  /// The distinct scores, ascending, and the weight up to and with each.
  std::span<const double> scores() const { return scores_; }
  std::span<const double> cumulative() const { return cumulative_; }

 private:
  std::vector<double> scores_;
  std::vector<double> cumulative_;
};

}  // namespace ecotone
