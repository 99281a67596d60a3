#include "ecotone/methods/weight/logistic/weight_logistic.h"

#include "ecotone/solve/ratios/density_ratio.h"

namespace ecotone {
namespace {

StageResult fit_logistic(const TrainView& view, const WeightLogisticOptions& options, const Context& context,
                         FitCache&) {
  const RatioOptions ratio{.l2 = options.l2, .squares = options.squares};
  const auto log_ratio = [&](const Features& x, Index sources) {
    return logistic_ratio(x, sources, ratio, context).log_weight;
  };
  return weigh(view, {.who = "weight.logistic", .log_ratio = log_ratio, .squares = options.squares}, options, context);
}

std::shared_ptr<const Fitted> load_logistic(const StageState& state, const WeightLogisticOptions&, const StageInput&) {
  return Weighting::load(state);
}

}  // namespace

Method weight_logistic_method() {
  return make_method<WeightLogisticOptions, fit_logistic, load_logistic>(
      {.name = "weight.logistic",
       .family = Family::weight,
       .summary = "Weights source rows by how target-like a logistic classifier finds them.",
       .when = "when the target has other rows but the same rule from features to label; the first weighting to try.",
       .example = "impute | scale | weight.logistic | logistic",
       .citation = "sayed2022",
       .routes = {{Route::streamed}},
       .needs_target = true});
}

}  // namespace ecotone
