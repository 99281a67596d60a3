#include <tuple>

#include "ecotone/methods/weight/weighting.h"
#include "ecotone/solve/ratios/gaussian_ratio.h"

namespace ecotone {
namespace {

struct WeightGaussianOptions : WeightOptions {
  AutoNumber shrink;

  static constexpr auto fields() {
    return std::tuple_cat(std::tuple{field("shrink", &WeightGaussianOptions::shrink,
                                           "Shrinkage of each covariance matrix towards its mean variance, with "
                                           "columns of variance 1; auto: by sample size",
                                           between(0.0, 1.0))},
                          WeightOptions::fields());
  }
};

StageResult fit_gaussian(const TrainView& view, const WeightGaussianOptions& options, const Context& context,
                         FitCache&) {
  const GaussianRatioOptions ratio{.shrink = options.shrink.value};
  const auto log_ratio = [&](const Features& x, Index sources) {
    return gaussian_log_ratio(x, sources, ratio, context);
  };
  return weigh(view, {.who = "weight.gaussian", .log_ratio = log_ratio, .squares = true, .falls_back = true}, options,
               context);
}

std::shared_ptr<const Fitted> load_gaussian(const StageState& state, const WeightGaussianOptions&, const StageInput&) {
  return Weighting::load(state);
}

}  // namespace

Method weight_gaussian_method() {
  return make_method<WeightGaussianOptions, fit_gaussian, load_gaussian>(
      {.name = "weight.gaussian",
       .family = Family::weight,
       .summary = "Weights source rows by the ratio of two Gaussian densities.",
       .when = "when both samples look Gaussian and differ in spread, too.",
       .example = "impute | scale | weight.gaussian | logistic",
       .citation = "sayed2022",
       .routes = {{Route::streamed}},
       .needs_target = true});
}

}  // namespace ecotone
