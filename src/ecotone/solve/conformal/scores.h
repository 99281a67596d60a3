#pragma once

#include <vector>

#include "ecotone/linalg/matrix.h"

/// Nonconformity scores: how badly a class or a number goes with a prediction. A candidate whose score is at most a
/// quantile of such scores (quantiles.h) is in the set.
namespace ecotone {

enum class ClassScore {
  lac,  ///< 1 - p of the class: the smallest sets
  aps,  ///< sum of the probabilities that are at least as large, its own included: better in the worst domain
  raps  ///< the same plus a penalty of 0.1 for every rank beyond the first, the worst among ties
};

struct RapsPenalty {
  double lam = 0.1;
  Index k_reg = 1;
};

/// The scores of all classes of one row.
Vector class_scores(ConstVectorView probability, ClassScore score, const RapsPenalty& penalty = {});
/// The classes whose score is at most the quantile, in order; it may hold none.
std::vector<Index> class_set(ConstVectorView scores, double quantile);

enum class NumberScore {
  absolute,  ///< |y - f|
  scaled     ///< |y - f| / scale, of a learner that says how sure it is of each row
};

/// Scales below it count as this large.
inline constexpr double smallest_scale = 1e-12;

/// The score of a number; `scale` is used by `scaled` alone.
double number_score(NumberScore score, double y, double prediction, double scale);

/// From low to high; empty if low > high.
struct NumberInterval {
  double low = 0;
  double high = 0;
};
NumberInterval number_interval(NumberScore score, double prediction, double scale, double quantile);

/// Conformalised quantile regression: by how much a number lies outside of [low, high]; negative inside.
double quantile_score(double y, double low, double high);
/// The interval widened by the quantile, which may be negative.
NumberInterval widened(double low, double high, double quantile);

}  // namespace ecotone
