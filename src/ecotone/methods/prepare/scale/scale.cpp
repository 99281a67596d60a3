#include "ecotone/methods/prepare/scale/scale.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/methods/prepare/column_moments.h"
#include "ecotone/methods/prepare/scale/domain_scale.h"
#include "ecotone/methods/select/selection_view.h"

namespace ecotone {

Scale::Scale(Vector mean, Vector scale) : mean_(std::move(mean)), scale_(std::move(scale)) {}

StageResult Scale::fit(const TrainView& view, const ScaleOptions& options, const Context& context, FitCache&) {
  if (options.by == ScaleBy::domain) return DomainScale::fit(view, options, context);
  const Features x = fitting_rows(view);
  ColumnMoments moments = column_moments(x, context);
  // scale = sqrt(sum (x - mean)^2 / n)
  Vector scale = moments.deviation();
  for (Index j = 0; j < x.cols(); ++j) {
    if (!std::isfinite(moments.low[j]) || !std::isfinite(moments.high[j])) {
      data_error("non_finite", "scale: column '{}' holds an infinite value", x.name(j));
    }
    if (!std::isfinite(moments.mean[j]) || !std::isfinite(scale[j])) {
      data_error("non_finite", "scale: column '{}' is too large to scale; it ranges from {} to {}", x.name(j),
                 moments.low[j], moments.high[j]);
    }
    // A constant column stays as it is; so does one whose 1 / scale would overflow.
    if (scale[j] < std::numeric_limits<double>::min()) scale[j] = 1;
  }
  if (x.is_sparse()) moments.mean.setZero();
  return pass_on(std::make_shared<Scale>(std::move(moments.mean), std::move(scale)), view, context);
}

SumsResult Scale::fit_on_sums(const RowSums& sums, const ScaleOptions& options, const Context& context) {
  if (options.by == ScaleBy::domain) return DomainScale::fit_on_sums(sums, options, context);
  constexpr double constant_part = 1e-13;  // of a column's squares: what rounding leaves of a constant one
  const Moments& moments = sums.moments;
  const Vector mean = moments.x1.colwise().sum().transpose() / sums.rows();
  warn_lost_digits("scale", moments, {.x = true}, context);
  Vector scale(sums.cols()), factor(sums.cols());
  for (Index j = 0; j < sums.cols(); ++j) {
    // sum (x - mean)^2 = sum over domains of sum (x - mean_d)^2 + n_d (mean_d - mean)^2
    double m2 = 0;
    for (Index g = 0; g < moments.group_count(); ++g) {
      const double rows = moments.rows[g], own = moments.x1(g, j) / rows;
      m2 += std::max(0.0, moments.xx(g, j) - rows * own * own) + rows * (own - mean[j]) * (own - mean[j]);
    }
    const bool constant = m2 <= constant_part * moments.xx.col(j).sum();
    scale[j] = constant ? 1 : std::sqrt(m2 / sums.rows());
    factor[j] = constant ? 0 : 1 / scale[j];  // what rounding leaves must not be learned from
  }
  RowSums next = moved_sums(sums, mean, factor, context);
  return {std::make_shared<Scale>(mean, std::move(scale)), std::move(next)};
}

Features Scale::transform(const Batch& batch, const Context& context) const {
  const Vector factor = scale_.cwiseInverse();
  if (batch.x.is_sparse() && mean_.isZero(0)) return batch.x.scaled(factor, context);
  // z = (x - mean) / scale
  const auto map = [mean = mean_, factor](ConstMatrixMap x, MatrixView z) {
    z = (x.rowwise() - mean.transpose()) * factor.asDiagonal();
  };
  return batch.x.map(batch.x.cols(), batch.x.names(), map, context);
}

StageState Scale::save() const {
  StageState state;
  state.set("mean", mean_);
  state.set("scale", scale_);
  return state;
}

std::shared_ptr<const Fitted> Scale::load(const StageState& state, const ScaleOptions& options,
                                          const StageInput& input) {
  if (options.by == ScaleBy::domain) return DomainScale::load(state, options, input);
  Vector mean = state.vector("mean", input.cols);
  Vector scale = state.vector("scale", input.cols);
  if ((scale.array() < std::numeric_limits<double>::min()).any()) file_error("bad_model", "array 'scale' must be > 0");
  return std::make_shared<Scale>(std::move(mean), std::move(scale));
}

Method scale_method() {
  return make_method<ScaleOptions, Scale::fit, Scale::load>(
      {.name = "scale",
       .family = Family::prepare,
       .summary = "Standardises every column to mean 0 and standard deviation 1 over the labelled source rows, or "
                  "within each domain (by=domain).",
       .when = "before stages that compare columns: penalties, kernels, neighbours, components. Trees and stumps do "
               "not need it. by=domain assumes that a domain shifts and stretches its columns and nothing else, as a "
               "device does; it takes differences of class shares between domains away, and with them accuracy where "
               "these differ: in our study it was better than nothing in 20 and worse in 24 of 66 new domains, so "
               "compare both.",
       .example = "impute | scale | svm",
       .citation = "",
       .routes = {{Route::streamed}, {Route::ranks}},
       .plain = PlainForm{.method = "scale", .only_with = "by=domain"},
       .sums = beside_targets(sums_route<ScaleOptions, Scale::fit_on_sums>())});
}

}  // namespace ecotone
