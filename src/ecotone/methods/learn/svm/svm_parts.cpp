#include "ecotone/methods/learn/svm/svm_parts.h"

#include <utility>

#include "ecotone/methods/binary_prediction.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {

Prediction svm_prediction(const char* who, Task task, const std::optional<PlattMap>& platt, Vector score,
                          const Batch& batch) {
  require_finite_scores(who, score, batch);
  if (task == Task::regress) {
    Prediction prediction;
    prediction.task = task;
    prediction.value = std::move(score);
    return prediction;
  }
  if (!platt) return binary_prediction(std::move(score));
  const Vector log_odds = score.unaryExpr([&](double s) { return platt->log_odds(s); });
  return binary_prediction(std::move(score), log_odds);
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
