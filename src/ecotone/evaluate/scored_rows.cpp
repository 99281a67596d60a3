#include "ecotone/evaluate/scored_rows.h"

#include <algorithm>
#include <cmath>

#include "ecotone/measure/confusion.h"

namespace ecotone {

ScoredRows::ScoredRows(const Labels& y, std::span<const Pick> picks, const MetricsAsked& asked)
    : task_(y.task), asked_(asked) {
  if (asked.sets) add_sets(y, picks);
  if (task_ == Task::classify) {
    add_classes(y, picks);
    if (asked.threshold) add_threshold(picks);
    return;
  }
  true_value_.resize(static_cast<Index>(picks.size()));
  value_.resize(true_value_.size());
  for (Index i = 0; i < value_.size(); ++i) {
    true_value_[i] = y.value[picks[at(i)].row()];
    value_[i] = picks[at(i)].outcome->value[picks[at(i)].local];
  }
}

void ScoredRows::add_classes(const Labels& y, std::span<const Pick> picks) {
  probability_.resize(static_cast<Index>(picks.size()), static_cast<Index>(y.classes.size()));
  for (std::size_t i = 0; i < picks.size(); ++i) {
    const auto& [outcome, local] = picks[i];
    truth_.push_back(y.index[at(picks[i].row())]);
    predicted_.push_back(outcome->predicted[at(local)]);
    probability_.row(static_cast<Index>(i)) = outcome->probability.row(local);
  }
  log_losses_ = log_losses(truth_, probability_);
  brier_sums_ = brier_sums(truth_, probability_);
  bins_.emplace(truth_, predicted_, probability_);
  for (std::size_t first = 0, end = 0; first < picks.size(); first = end) {
    while (end < picks.size() && picks[end].outcome == picks[first].outcome) ++end;
    const auto rows = static_cast<Index>(end - first);
    models_.push_back({first, end - first,
                       ClassRankings(Truth(truth_).subspan(first, end - first),
                                     probability_.middleRows(static_cast<Index>(first), rows))});
  }
  if (y.classes.size() != 2) return;
  const std::vector<std::uint8_t> positive(truth_.begin(), truth_.end());
  const Vector second = probability_.col(1);
  recalibration_.emplace(positive, std::span(second.data(), truth_.size()));
}

void ScoredRows::add_threshold(std::span<const Pick> picks) {
  if (!std::ranges::all_of(picks, [](const Pick& pick) { return pick.outcome->threshold.has_value(); })) return;
  for (const auto& [outcome, local] : picks) above_.push_back(outcome->probability(local, 1) >= *outcome->threshold);
}

void ScoredRows::add_sets(const Labels& y, std::span<const Pick> picks) {
  const bool classes = task_ == Task::classify;
  const auto has_set = [&](const Pick& pick) {
    return classes ? pick.outcome->set.size() > 0 : pick.outcome->low.size() > 0;
  };
  if (!std::ranges::all_of(picks, has_set)) return;
  for (const Pick& pick : picks) {
    const auto& [outcome, local] = pick;
    if (classes) {
      covered_.push_back(outcome->set(local, y.index[at(pick.row())]) ? 1 : 0);
      size_.push_back(static_cast<double>(outcome->set.row(local).count()));
    } else {
      const double label = y.value[pick.row()], low = outcome->low[local], high = outcome->high[local];
      covered_.push_back(low <= label && label <= high ? 1 : 0);
      size_.push_back(std::max(0.0, high - low));
    }
  }
}

template <class Measure>
std::optional<double> ScoredRows::mean_of_models(const Measure& measure, RowWeights weight) const {
  double total = 0;
  double mean = 0;
  for (const OfModel& model : models_) {
    const RowWeights own = weight.empty() ? weight : weight.subspan(model.first, model.rows);
    const std::optional<double> value = measure(model.rankings, own);
    if (!value) continue;
    // mean = sum n_f value_f / sum n_f, updated one model at a time, so that equal values stay exact
    const double rows = total_weight(own, model.rows);
    total += rows;
    mean += rows / total * (*value - mean);
  }
  return total > 0 ? std::optional(mean) : std::nullopt;
}

std::vector<std::optional<double>> ScoredRows::class_metrics(RowWeights weight) const {
  const auto area = [](const ClassRankings& rankings, RowWeights own) { return rankings.auroc(own); };
  const auto precision = [](const ClassRankings& rankings, RowWeights own) { return rankings.average_precision(own); };
  const double brier_sum = weighted_mean(brier_sums_, weight);
  std::vector<std::optional<double>> values = {accuracy(truth_, predicted_, weight),
                                               balanced_accuracy(truth_, predicted_, weight),
                                               mean_of_models(area, weight),
                                               mean_of_models(precision, weight),
                                               weighted_mean(log_losses_, weight),
                                               probability_.cols() == 2 ? brier_sum / 2 : brier_sum,
                                               brier_sum,
                                               bins_->error(weight)};
  if (recalibration_) values.insert(values.end(), {recalibration_->slope(weight), recalibration_->intercept(weight)});
  if (asked_.threshold) append_threshold_metrics(values, weight);
  return values;
}

void ScoredRows::append_threshold_metrics(std::vector<std::optional<double>>& values, RowWeights weight) const {
  // Without a threshold nothing is counted, and all are undefined.
  Confusion counts;
  for (std::size_t i = 0; i < above_.size(); ++i) counts.add(truth_[i] == 1, above_[i], weight_at(weight, i));
  values.insert(values.end(), {sensitivity(counts), specificity(counts), ppv(counts), npv(counts), f1(counts)});
}

std::vector<std::optional<double>> ScoredRows::metrics(RowWeights weight) const {
  std::vector<std::optional<double>> values =
      task_ == Task::classify
          ? class_metrics(weight)
          : std::vector<std::optional<double>>{rmse(true_value_, value_, weight), mae(true_value_, value_, weight),
                                               r2(true_value_, value_, weight)};
  if (asked_.sets && covered_.empty()) values.insert(values.end(), 2, std::nullopt);
  if (!covered_.empty()) values.insert(values.end(), {weighted_mean(covered_, weight), weighted_mean(size_, weight)});
  for (auto& value : values)
    if (value && !std::isfinite(*value)) value.reset();  // an overflow in a prediction, or no weight
  return values;
}

}  // namespace ecotone
