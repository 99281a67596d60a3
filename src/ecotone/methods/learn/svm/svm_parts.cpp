#include "ecotone/methods/learn/svm/svm_parts.h"

#include <cmath>
#include <utility>

#include "ecotone/base/error.h"

namespace ecotone {

Prediction svm_prediction(const char* who, Task task, const std::optional<PlattMap>& platt, Vector score,
                          const Batch& batch) {
  for (Index i = 0; i < score.size(); ++i)
    if (!std::isfinite(score[i]))
      data_error("non_finite", "{}: the values of row {} are too large to predict from", who,
                 origin_of(batch.origin, i) + 1);
  Prediction prediction;
  prediction.task = task;
  if (task == Task::regress) {
    prediction.value = std::move(score);
    return prediction;
  }
  prediction.probability.resize(score.size(), 2);
  for (Index i = 0; i < score.size(); ++i) {
    prediction.index.push_back(score[i] >= 0 ? 1 : 0);
    const double odds = platt ? platt->log_odds(score[i]) : 2 * score[i];
    const double small = std::exp(-std::abs(odds)) / (1 + std::exp(-std::abs(odds)));
    prediction.probability(i, 0) = odds >= 0 ? small : 1 - small;
    prediction.probability(i, 1) = odds >= 0 ? 1 - small : small;
  }
  prediction.score = score;
  return prediction;
}

void save_platt(const std::optional<PlattMap>& platt, StageState& state) {
  if (!platt) return;
  state.info["platt_slope"] = platt->slope;
  state.info["platt_intercept"] = platt->intercept;
}

std::optional<PlattMap> load_platt(bool wanted, const StageState& state) {
  if (!wanted) return std::nullopt;
  return PlattMap{state.number("platt_slope"), state.number("platt_intercept")};
}

}  // namespace ecotone
