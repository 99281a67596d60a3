#pragma once

#include <optional>

#include "ecotone/methods/learn/calibrate/score_maps.h"
#include "ecotone/methods/method.h"

/// What the routes of svm share.
namespace ecotone {

/// The score in regression; else classes and probabilities, by Platt's map of the scores, or 1 / (1 + exp(-2 score))
/// without one. Data error `non_finite`.
Prediction svm_prediction(const char* who, Task task, const std::optional<PlattMap>& platt, Vector score,
                          const Batch& batch);

/// Under the names `platt_slope` and `platt_intercept`, where there is a map.
void save_platt(const std::optional<PlattMap>& platt, StageState& state);
/// The map where one is wanted.
std::optional<PlattMap> load_platt(bool wanted, const StageState& state);

}  // namespace ecotone
