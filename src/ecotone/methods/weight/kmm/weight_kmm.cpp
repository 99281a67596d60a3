#include <tuple>

#include "ecotone/methods/weight/balanced_weighting.h"
#include "ecotone/solve/ratios/mean_matching.h"

namespace ecotone {
namespace {

struct WeightKmmOptions : BalancedWeightOptions {
  AutoNumber sigma;
  double most = 10;
  double slack = 0;
  int rank = 200;

  static constexpr auto fields() {
    using O = WeightKmmOptions;
    return std::tuple_cat(
        std::tuple{
            field("sigma", &O::sigma, "Width of the Gaussian kernel; auto: the median distance of rows", above(0.0)),
            field("most", &O::most, "Largest weight B, where the mean weight is 1; with balance=true, largest ratio",
                  at_least(1.0)),
            field("slack", &O::slack, "The mean weight is within 1 - slack and 1 + slack", between(0.0, 1.0)),
            field("rank", &O::rank, "Landmarks of the low-rank kernel", between(1, 100000))},
        BalancedWeightOptions::fields());
  }
};

constexpr double rough_matching = 0.1;  // of the kernel's trace

StageResult fit_weight_kmm(const TrainView& view, const WeightKmmOptions& options, const Context& context, FitCache&) {
  check_balance(options, "weight.kmm");
  MeanMatchingOptions matching{
      .sigma = options.sigma.value, .most = options.most, .slack = options.slack, .rank = options.rank};
  Status status;
  Json chosen = Json::object();
  const auto log_ratio = [&](const Features& x, const std::vector<Index>& rows) {
    matching.mass = source_masses(view, rows, options);
    const MeanMatching found = mean_matching(x, std::ssize(rows), matching, context);
    context.note("weight.kmm: sigma {:.4g}, objective {:.6g}, within {:.2g} of the minimum, after {} steps",
                 found.sigma, found.objective, found.gap, found.iterations);
    if (found.residual > rough_matching)
      context.warn("rough_map",
                   "weight.kmm: the map of rank {} leaves {:.2g} of the kernel unexplained, and the weights depend on "
                   "its draw; raise rank or sigma",
                   found.rank, found.residual);
    chosen = {{"sigma", found.sigma},         {"rank", found.rank}, {"residual", found.residual},
              {"objective", found.objective}, {"gap", found.gap},   {"steps", found.iterations}};
    if (!found.converged)
      status = {false, fmt::format("within {:.2g} of the minimum {:.6g} after {} steps", found.gap, found.objective,
                                   found.iterations)};
    return log_of_ratio(found.weights, {});  // masses are in them
  };
  StageResult result = weigh(
      view, {.who = "weight.kmm", .log_ratio_of_rows = log_ratio, .solved = true, .chosen = &chosen}, options, context);
  result.status = status;
  return result;
}

std::shared_ptr<const Fitted> load_weight_kmm(const StageState& state, const WeightKmmOptions&, const StageInput&) {
  return Weighting::load(state);
}

}  // namespace

Method weight_kmm_method() {
  return make_method<WeightKmmOptions, fit_weight_kmm, load_weight_kmm>(
      {.name = "weight.kmm",
       .family = Family::weight,
       .summary = "Weights source rows so that their kernel mean is nearest to that of the target.",
       .when =
           "when the target has other rows but the same rule from features to label, and no density should be "
           "estimated. It assumes that the source has rows wherever the target has. In our study it was better than "
           "nothing in 26 and worse in 28 of 54 new domains.",
       .example = "impute | scale | weight.kmm | logistic",
       .citation = "huang2006",
       .needs_target = true});
}

}  // namespace ecotone
