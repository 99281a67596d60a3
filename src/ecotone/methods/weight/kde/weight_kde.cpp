#include <tuple>

#include "ecotone/methods/weight/weighting.h"
#include "ecotone/solve/ratios/kde_ratio.h"

namespace ecotone {
namespace {

struct WeightKdeOptions : WeightOptions {
  bool skip_self = true;

  static constexpr auto fields() {
    return std::tuple_cat(std::tuple{field("skip_self", &WeightKdeOptions::skip_self,
                                           "Leave a source row out of the source's density at itself")},
                          WeightOptions::fields());
  }
};

StageResult fit_weight_kde(const TrainView& view, const WeightKdeOptions& options, const Context& context, FitCache&) {
  const KdeRatioOptions ratio{.skip_self = options.skip_self};
  const auto log_ratio = [&](const Features& x, Index sources) { return kde_log_ratio(x, sources, ratio, context); };
  return weigh(view, {.who = "weight.kde", .log_ratio = log_ratio, .squares = true, .falls_back = true}, options,
               context);
}

std::shared_ptr<const Fitted> load_weight_kde(const StageState& state, const WeightKdeOptions&, const StageInput&) {
  return Weighting::load(state);
}

}  // namespace

Method weight_kde_method() {
  return make_method<WeightKdeOptions, fit_weight_kde, load_weight_kde>(
      {.name = "weight.kde",
       .family = Family::weight,
       .summary = "Weights source rows by the ratio of two kernel density estimates.",
       .when = "for at most 5 columns (10 are refused beyond) and 20,000 rows, where the densities have any shape: all "
               "pairs of rows are compared, and densities of more columns are mostly noise, which weights pass on to "
               "predictions. Otherwise use "
               "weight.rulsif, whose record is in our study; this one was not in it.",
       .example = "impute | kpca components=3 | weight.kde | svm",
       .needs_target = true});
}

}  // namespace ecotone
