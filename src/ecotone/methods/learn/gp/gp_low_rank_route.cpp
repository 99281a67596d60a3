#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/learn/gp/gp_fit.h"
#include "ecotone/methods/learn/learner_kernel.h"

namespace ecotone {
namespace {

/// A map that leaves out more than this of the kernel's trace is said to be rough.
constexpr double rough = 0.1;

/// What the options fix once the width is known: amplitude and noise too where folds chose them.
GpFixed fixed_parameters(const GpOptions& options, const GpChoice& choice) {
  GpFixed fixed = given_parameters(options);
  if (options.fit != GpFitRule::cv) return fixed;
  fixed.amplitude = choice.parameters.amplitude;
  fixed.noise = choice.parameters.noise;
  return fixed;
}

}  // namespace

TrainView part_for_widths(const TrainView& view, const Context& context) {
  const Index rows = view.labelled();
  if (rows <= most_width_rows) return view;
  std::vector<Index> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), Index{0});
  Random random = context.random("gp_width_rows");
  for (std::size_t i = 0; i < static_cast<std::size_t>(most_width_rows); ++i)
    std::swap(all[i], all[i + random.below(static_cast<std::uint64_t>(all.size() - i))]);
  all.resize(static_cast<std::size_t>(most_width_rows));
  std::sort(all.begin(), all.end());
  return view_of_rows(view, all);
}

GpFitted fit_low_rank_gp(const TrainView& view, const GpOptions& options, const Context& context) {
  if (options.noise.value && *options.noise.value == 0)
    option_error("bad_option", "gp: noise must be > 0 with route=low_rank, got 0");
  Kernel kernel = learner_kernel(kernel_options(options), view, context);
  const Features x = view.labelled_x();
  const bool constant = constant_labels(view.y.value);
  GpChoice choice;
  choice.parameters.sigma = kernel.sigma;
  const bool by_part = width_is_free(kernel, options) || options.fit == GpFitRule::cv;
  if (constant) {
    choice = choice_of_constant(options, kernel.sigma, view.y.value, context);
  } else if (by_part) {
    choice = choose_gp(part_for_widths(view, context), kernel, options, context.observed_by(nullptr));
  }
  kernel.sigma = choice.parameters.sigma;
  LowRankFit map = fit_low_rank(x, map_kernel(kernel), {.rank = options.rank}, context);
  if (map.residual > rough)
    context.warn("rough_map", "gp: the map of rank {} leaves {:.2g} of the kernel's trace; raise rank or sigma",
                 map.map.rank(), map.residual);
  const Matrix inputs = options.mean == GpMean::linear ? x.to_matrix() : Matrix();
  const GpSums sums =
      gather_gp_sums(gp_map_rows(x, map.map), view.y.value, inputs, options.mean, gp_weights(view), context);
  const Index before = choice.evaluations;
  const GpFixed fixed = fixed_parameters(options, choice);
  if (!constant && !(fixed.amplitude && fixed.noise)) {
    const double sigma = kernel.sigma;
    choice = choice_of(maximise_low_rank_likelihood(sums, map.diagonal, {.fixed = fixed}, context), context);
    choice.parameters.sigma = sigma;
    choice.evaluations += before;
  } else if (!constant) {
    choice.parameters = {kernel.sigma, *fixed.amplitude, *fixed.noise};
  }
  GpLowRankFit fit = fit_gp_low_rank(sums, choice.parameters, context);
  const GpNotes notes{
      .rows = x.rows(), .evaluations = choice.evaluations, .at_bound = choice.at_bound, .residual = map.residual};
  return {LowRankGp{kernel, std::move(map.map), std::move(fit)}, notes, choice.status};
}

}  // namespace ecotone
