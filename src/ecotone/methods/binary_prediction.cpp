#include "ecotone/methods/binary_prediction.h"

#include <cmath>
#include <utility>

namespace ecotone {

std::vector<double> binary_targets(const Labels& y) {
  std::vector<double> targets;
  targets.reserve(y.index.size());
  for (const std::int32_t k : y.index) targets.push_back(k == 1 ? 1 : -1);
  return targets;
}

Prediction binary_prediction(Vector score, const Vector& log_odds) {
  Prediction prediction;
  prediction.probability.resize(score.size(), 2);
  for (Index i = 0; i < score.size(); ++i) {
    prediction.index.push_back(score[i] >= 0 ? 1 : 0);
    const double ratio = std::exp(-std::abs(log_odds[i]));
    const double small = ratio / (1 + ratio);
    prediction.probability(i, 0) = log_odds[i] >= 0 ? small : 1 - small;
    prediction.probability(i, 1) = log_odds[i] >= 0 ? 1 - small : small;
  }
  prediction.score = std::move(score);
  return prediction;
}

Prediction binary_prediction(Vector score) {
  const Vector log_odds = 2 * score;
  return binary_prediction(std::move(score), log_odds);
}

}  // namespace ecotone
