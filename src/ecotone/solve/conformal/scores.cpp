#include "ecotone/solve/conformal/scores.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/index.h"
#include "ecotone/measure/weighted_quantile.h"

namespace ecotone {

Vector class_scores(ConstVectorView p, ClassScore score, const RapsPenalty& penalty) {
  Vector scores(p.size());
  for (Index c = 0; c < p.size(); ++c) {
    if (score == ClassScore::lac) {
      scores[c] = 1 - p[c];
      continue;
    }
    double sum = 0;
    Index rank = 0;  // the worst among ties
    for (Index j = 0; j < p.size(); ++j) {
      if (p[j] < p[c]) continue;
      sum += p[j];
      ++rank;
    }
    scores[c] = sum;
    if (score == ClassScore::raps)
      scores[c] += penalty.lam * static_cast<double>(std::max<Index>(0, rank - penalty.k_reg));
  }
  return scores;
}

std::vector<Index> class_set(ConstVectorView scores, double quantile) {
  std::vector<Index> set;
  for (Index c = 0; c < scores.size(); ++c)
    if (scores[c] <= quantile + quantile_slack) set.push_back(c);
  return set;
}

double number_score(NumberScore score, double y, double prediction, double scale) {
  const double distance = std::abs(y - prediction);
  return score == NumberScore::absolute ? distance : distance / std::max(scale, smallest_scale);
}

NumberInterval number_interval(NumberScore score, double prediction, double scale, double quantile) {
  const double half = score == NumberScore::absolute ? quantile : quantile * std::max(scale, smallest_scale);
  return {prediction - half, prediction + half};
}

double quantile_score(double y, double low, double high) { return std::max(low - y, y - high); }

NumberInterval widened(double low, double high, double quantile) { return {low - quantile, high + quantile}; }

}  // namespace ecotone
