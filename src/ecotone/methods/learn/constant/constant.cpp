#include "ecotone/methods/learn/constant/constant.h"

#include <cmath>
#include <utility>

namespace ecotone {

Constant::Constant(Vector probability) : task_(Task::classify), probability_(std::move(probability)) {}

Constant::Constant(double value) : task_(Task::regress), value_(value) {}

namespace {

/// Share of the weight that each class has.
Vector class_frequencies(const TrainView& view, double total) {
  Vector frequency = Vector::Zero(static_cast<Index>(view.y.classes.size()));
  for (Index i = 0; i < view.labelled(); ++i) frequency[view.y.index[at(i)]] += view.weight_of(i);
  return frequency / total;
}

double weighted_mean(const TrainView& view, double total) {
  double mean = 0;
  for (Index i = 0; i < view.labelled(); ++i) mean += view.weight_of(i) / total * view.y.value[i];
  if (!std::isfinite(mean)) data_error("non_finite", "constant: the labels hold an infinite value");
  return mean;
}

}  // namespace

StageResult Constant::fit(const TrainView& view, const ConstantOptions&, const Context&, FitCache&) {
  double total = 0;
  for (Index i = 0; i < view.labelled(); ++i) total += view.weight_of(i);
  if (total <= 0) data_error("zero_weights", "constant: all row weights are 0");
  auto fitted = view.y.task == Task::classify ? std::make_shared<Constant>(class_frequencies(view, total))
                                              : std::make_shared<Constant>(weighted_mean(view, total));
  return {std::move(fitted), view, {}};
}

Prediction Constant::predict(const Batch& batch, const Context&) const {
  const Index rows = batch.x.rows();
  Prediction prediction;
  prediction.task = task_;
  if (task_ == Task::regress) {
    prediction.value = Vector::Constant(rows, value_);
    return prediction;
  }
  // The first of the largest: ties go to the smaller class.
  Index majority = 0;
  probability_.maxCoeff(&majority);
  prediction.index.assign(static_cast<std::size_t>(rows), static_cast<std::int32_t>(majority));
  prediction.probability = probability_.transpose().replicate(rows, 1);
  return prediction;
}

StageState Constant::save() const {
  StageState state;
  if (task_ == Task::classify) {
    state.set("probability", probability_);
  } else {
    state.info["value"] = value_;
  }
  return state;
}

std::shared_ptr<const Fitted> Constant::load(const StageState& state, const ConstantOptions&, const StageInput& input) {
  if (input.task == Task::regress) return std::make_shared<Constant>(state.number("value"));
  Vector probability = state.vector("probability", static_cast<Index>(input.classes.size()));
  if (probability.size() == 0) file_error("bad_model", "constant needs at least one class");
  if ((probability.array() < 0).any() || std::abs(probability.sum() - 1) > 1e-6) {
    file_error("bad_model", "array 'probability' must be at least 0 and sum to 1");
  }
  return std::make_shared<Constant>(std::move(probability));
}

Method constant_method() {
  return make_method<ConstantOptions, Constant::fit, Constant::load>(
      {.name = "constant",
       .family = Family::learn,
       .summary = "Baseline: predicts the majority class and the class frequencies, or the mean in regression.",
       .when = "as the baseline that every other pipeline must beat.",
       .example = "constant",
       .citation = "",
       .routes = {{Route::streamed}},
       .learns = Learns::labels,
       .reads_features = false});
}

}  // namespace ecotone
