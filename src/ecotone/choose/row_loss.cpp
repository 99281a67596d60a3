#include "ecotone/choose/row_loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

constexpr std::array<std::pair<RowLoss, std::string_view>, 5> names = {{{RowLoss::automatic, "auto"},
                                                                        {RowLoss::error, "error"},
                                                                        {RowLoss::log_loss, "log_loss"},
                                                                        {RowLoss::brier, "brier"},
                                                                        {RowLoss::squared, "squared"}}};
constexpr double clip = 1e-15;  // of probabilities in the log loss, as in log_loss()

double class_loss(RowLoss loss, const Prediction& prediction, Index row, Index truth) {
  if (loss == RowLoss::error) return prediction.index[static_cast<std::size_t>(row)] == truth ? 0.0 : 1.0;
  const double p = truth < 0 ? 0.0 : prediction.probability(row, truth);
  if (loss == RowLoss::log_loss) return -std::log(std::clamp(p, clip, 1 - clip));
  // sum_k (p_k - [k = truth])^2 = sum_k p_k^2 - 2 p_truth + 1; half of it for two classes, as in brier()
  const double sum = prediction.probability.row(row).squaredNorm() - 2 * p + 1;
  return prediction.probability.cols() == 2 ? sum / 2 : sum;
}

}  // namespace

std::string_view loss_name(RowLoss loss) {
  for (const auto& [each, name] : names)
    if (each == loss) return name;
  return "";
}

RowLoss loss_by_name(std::string_view name) {
  for (const auto& [loss, known] : names)
    if (known == name) return loss;
  option_error("unknown_loss", "unknown loss '{}'; choose one of auto, error, log_loss, brier, squared", name);
}

RowLoss resolved(RowLoss loss, Task task) {
  if (loss == RowLoss::automatic) return task == Task::classify ? RowLoss::log_loss : RowLoss::squared;
  if ((loss == RowLoss::squared) == (task == Task::regress)) return loss;
  option_error("bad_option", "the loss {} is not a loss for {}", loss_name(loss),
               task == Task::classify ? "classification (error, log_loss, brier)" : "regression (squared)");
}

double largest_loss(RowLoss loss) {
  switch (loss) {
    case RowLoss::error:
      return 1;
    case RowLoss::log_loss:
      return -std::log(clip);
    case RowLoss::brier:
      return 2;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

Vector row_losses(const Labels& truth, const Prediction& prediction, const std::vector<std::string>& classes,
                  RowLoss loss) {
  if (truth.task == Task::regress) return (truth.value - prediction.value).cwiseAbs2();
  std::map<std::string_view, Index> place;
  for (std::size_t k = 0; k < classes.size(); ++k) place[classes[k]] = static_cast<Index>(k);
  std::vector<Index> of_truth;
  for (const std::string& name : truth.classes) {
    const auto found = place.find(name);
    of_truth.push_back(found == place.end() ? -1 : found->second);
  }
  Vector losses(truth.size());
  for (Index i = 0; i < losses.size(); ++i) {
    const std::int32_t cls = truth.index[static_cast<std::size_t>(i)];
    losses[i] = class_loss(loss, prediction, i, of_truth[static_cast<std::size_t>(cls)]);
  }
  return losses;
}

MeanError mean_error(ConstVectorView values, ConstVectorView weights) {
  const auto n = static_cast<double>(values.size());
  if (weights.size() == 0) {
    const double mean = values.mean();
    if (values.size() < 2) return {mean, std::nullopt};
    return {mean, std::sqrt((values.array() - mean).square().sum() / ((n - 1) * n))};
  }
  const double sum = weights.sum();
  const double mean = weights.dot(values) / sum;
  if (values.size() < 2) return {mean, std::nullopt};
  return {mean, std::sqrt((weights.array() * (values.array() - mean)).square().sum()) / sum};
}

}  // namespace ecotone
