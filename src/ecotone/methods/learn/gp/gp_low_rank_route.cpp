#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/learn/gp/gp_fit.h"
#include "ecotone/methods/learn/learner_kernel.h"

namespace ecotone {
namespace {

/// The rows that widths are chosen from.
struct WidthPart {
  TrainView view;
  std::optional<Refits> refits;
};

/// At most `most_width_rows` labelled rows of a view.
WidthPart part_for_widths(const TrainView& view, const Refits* refits, const Context& context) {
  WidthPart part{view, {}};
  if (refits != nullptr) part.refits = *refits;
  if (view.labelled() <= most_width_rows) return part;
  std::vector<Index> rows = context.random("gp_width_rows").sample(view.labelled(), most_width_rows);
  std::sort(rows.begin(), rows.end());
  part.view = view_of_rows(view, rows);
  if (part.refits) part.refits = refits->of_rows(rows);
  return part;
}

/// Widths that are chosen before there is a map, and parameters where folds choose them.
DistributionalChoice choose_before(const TrainView& view, const Refits* refits, const Kernel& kernel,
                                   const GpOptions& options, const Context& context) {
  DistributionalChoice found;
  found.choice.parameters.sigma = kernel.sigma;
  if (constant_labels(view.y.value)) {
    found.choice = choice_of_constant(options, kernel.sigma, view.y.value, context);
    return found;
  }
  const bool cv = options.fit == GpFitRule::cv;
  if (!cv && (options.distributional || !width_is_free(kernel, options))) return found;
  const WidthPart part = part_for_widths(view, refits, context);
  const Refits* const of_part = part.refits ? &*part.refits : nullptr;
  if (options.distributional) return choose_distributional_gp(part.view, of_part, kernel, options, context);
  // Warnings about the likelihood of a part of the rows are dropped: that of all rows follows.
  found.choice = choose_gp(part.view, of_part, kernel, options, cv ? context : context.observed_by(nullptr));
  return found;
}

/// Amplitude and noise: given, chosen by folds before, or those of the largest likelihood of all rows.
GpChoice choose_after(const GpSums& sums, const GpOptions& options, GpChoice before, bool constant,
                      const Context& context) {
  if (constant || options.fit == GpFitRule::cv) return before;
  const GpFixed fixed = given_parameters(options);
  if (fixed.amplitude && fixed.noise) {
    before.parameters.amplitude = *fixed.amplitude;
    before.parameters.noise = *fixed.noise;
    return before;
  }
  const double diagonal = sums.gram.trace() / sums.rows;
  GpChoice after = choice_of(maximise_low_rank_likelihood(sums, diagonal, {.fixed = fixed}, context), context);
  after.parameters.sigma = before.parameters.sigma;
  after.evaluations += before.evaluations;
  return after;
}

/// The end of a fit, whatever the map.
GpFitted finish(LowRankGp gp, const GpMapRows& rows, double residual, const TrainView& view, const GpOptions& options,
                const GpChoice& before, const Context& context) {
  warn_of_rough_map("gp", rows.rank, residual, context);
  const Matrix inputs = options.mean == GpMean::linear ? rows.x.to_matrix() : Matrix();
  const GpSums sums = gather_gp_sums(rows, view.y.value, inputs, options.mean, gp_weights(view), context);
  const GpChoice choice = choose_after(sums, options, before, constant_labels(view.y.value), context);
  gp.fit = fit_gp_low_rank(sums, choice.parameters, context);
  const GpNotes notes{
      .rows = rows.x.rows(), .evaluations = choice.evaluations, .at_bound = choice.at_bound, .residual = residual};
  return {std::move(gp), notes, choice.status};
}

GpLowRankFit no_fit() {
  return {{}, GpBasis(GpMean::zero, Vector(), Vector()), {}, {}, {}, Cholesky::of_lower(Matrix()), {}, {}};
}

}  // namespace

GpMapRows domain_map_rows(const DistributionMap& map, const DomainRowsOf& rows, const DomainPlaces& places) {
  const auto features = [&map, &rows, &places](const RowBlock& block, MatrixView phi) {
    DistributionMap::Workspace workspace;
    const std::span<const std::int32_t> domain(rows.domain);
    map.features(block.x,
                 domain.subspan(static_cast<std::size_t>(block.first), static_cast<std::size_t>(block.x.rows())),
                 places, phi, workspace);
  };
  // k1(P, P) = 1
  const auto prior = [&map](const RowBlock& block) { return kernel_diagonal(map.row_kernel(), block.x); };
  return {rows.x, map.rank(), features, prior};
}

GpFitted fit_low_rank_gp(const TrainView& view, const Refits* refits, const GpOptions& options,
                         const Context& context) {
  if (options.noise.value && *options.noise.value == 0)
    option_error("bad_option", "gp: noise must be > 0 with route=low_rank, got 0");
  Kernel kernel = learner_kernel(kernel_options(options), view, context);
  const DistributionalChoice before = choose_before(view, refits, kernel, options, context);
  kernel.sigma = before.choice.parameters.sigma;
  if (options.distributional) {
    const DomainRowsOf rows = labelled_rows(view);
    // sigma1 by the rule of the map's own means, with the factor that folds chose.
    DistributionMapFit map =
        fit_domain_map("gp", kernel, rows, options.sigma1, {.rank = options.rank}, context, before.sigma1_factor);
    const DistributionMap fitted = map.map;
    return finish({kernel, {}, std::move(map.map), no_fit()}, domain_map_rows(fitted, rows, map.places), map.residual,
                  view, options, before.choice, context);
  }
  const Features x = view.labelled_x();
  LowRankFit map = fit_low_rank(x, DistributionMap::kernel_of_rows(kernel), {.rank = options.rank}, context);
  const LowRankMap fitted = map.map;
  return finish({kernel, std::move(map.map), {}, no_fit()}, gp_map_rows(x, fitted), map.residual, view, options,
                before.choice, context);
}

}  // namespace ecotone
