#include <cmath>
#include <tuple>

#include "ecotone/methods/weight/weighting.h"
#include "ecotone/solve/ratios/knn_ratio.h"

namespace ecotone {
namespace {

struct WeightKnnOptions : WeightOptions {
  int k = 15;
  ZeroCount zero = ZeroCount::smooth;
  bool include_self = false;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{field("k", &WeightKnnOptions::k, "Number of neighbours", at_least(1)),
                   field("zero", &WeightKnnOptions::zero,
                         "For rows without source neighbours: add the prior to both counts, or count half a neighbour",
                         one_of("smooth", "cap")),
                   field("include_self", &WeightKnnOptions::include_self, "Count a row as its own neighbour")},
        WeightOptions::fields());
  }
};

StageResult fit_knn(const TrainView& view, const WeightKnnOptions& options, const Context& context, FitCache&) {
  const KnnRatioOptions ratio{.k = options.k, .zero = options.zero, .include_self = options.include_self};
  const auto log_ratio = [&](const Features& x, Index sources) {
    return Vector(knn_ratio(x, sources, ratio, context).array().log());
  };
  return weigh(view, {.who = "weight.knn", .log_ratio = log_ratio}, options, context);
}

std::shared_ptr<const Fitted> load_knn(const StageState& state, const WeightKnnOptions&, const StageInput&) {
  return Weighting::load(state);
}

}  // namespace

Method weight_knn_method() {
  return make_method<WeightKnnOptions, fit_knn, load_knn>(
      {.name = "weight.knn",
       .family = Family::weight,
       .summary = "Weights source rows by how many target rows are among their nearest neighbours.",
       .when = "when source and target do not differ linearly and columns are few.",
       .example = "impute | scale | weight.knn k=20 | logistic",
       .citation = "sayed2022",
       .needs_target = true});
}

}  // namespace ecotone
