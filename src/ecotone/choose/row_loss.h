#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/methods/method.h"

namespace ecotone {

/// The loss of one row's prediction.
enum class RowLoss {
  automatic,  ///< log_loss for classification, squared for regression
  error,      ///< 1 for a wrong class
  log_loss,   ///< -ln of the true class's probability, clipped to [1e-15, 1 - 1e-15]
  brier,      ///< squared distance of the probabilities from the truth's indicator
  squared,    ///< squared difference
};
/// "error", "log_loss", "brier", "squared"; "auto".
std::string_view loss_name(RowLoss loss);
/// Option error `unknown_loss`.
RowLoss loss_by_name(std::string_view name);
/// The loss to use for a task, with `automatic` resolved. Option error `bad_option` if the task has no such loss.
RowLoss resolved(RowLoss loss, Task task);
/// The largest possible loss of one row; infinite for squared.
double largest_loss(RowLoss loss);

/// The loss of each row. `classes` are those of the predicting model; a true class unknown to it has probability 0 and
/// counts as an error.
Vector row_losses(const Labels& truth, const Prediction& prediction, const std::vector<std::string>& classes,
                  RowLoss loss);

/// A mean with its standard error.
struct MeanError {
  double mean = 0;
  std::optional<double> standard_error;  ///< empty with fewer than two values
};
/// sum a v / sum a. Its standard error is sqrt(sum a^2 (v - mean)^2) / sum a with weights, sd / sqrt(n) without (empty
/// weights). At least one value; weights are not all 0.
MeanError mean_error(ConstVectorView values, ConstVectorView weights);

}  // namespace ecotone
