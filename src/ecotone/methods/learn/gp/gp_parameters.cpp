#include "ecotone/methods/learn/gp/gp_parameters.h"

#include <algorithm>
#include <cmath>

namespace ecotone {
namespace {

constexpr double rounding = 1e-14;  // of the largest label

}  // namespace

GpFixed given_parameters(const GpOptions& options) {
  return {options.sigma.value, options.amplitude.value, options.noise.value};
}

bool constant_labels(ConstMatrixView y) { return y.maxCoeff() - y.minCoeff() <= rounding * y.cwiseAbs().maxCoeff(); }

GpChoice choice_of_constant(const GpOptions& options, double sigma, ConstMatrixView y, const Context& context) {
  if (options.mean == GpMean::zero && y(0, 0) != 0)
    context.warn("constant_label",
                 "gp: all labels are {:g}; with mean=zero predictions lie between 0 and this number, use mean=constant",
                 y(0, 0));
  else
    context.warn("constant_label", "gp: all labels are {:g}; predictions are this number", y(0, 0));
  // A standard deviation of 1e-8 of the label, noise and function alike, so that any rows have a factor.
  const double variance = 1e-16 * std::max(1.0, y(0, 0) * y(0, 0));
  GpChoice choice;
  choice.parameters = {options.sigma.value.value_or(sigma), options.amplitude.value.value_or(variance),
                       options.noise.value.value_or(variance)};
  choice.status.text = "all labels are equal";
  return choice;
}

GpChoice choice_of(const GpSearch& search, const Context& context) {
  GpChoice choice;
  choice.parameters = search.parameters;
  choice.evaluations = search.evaluations;
  choice.at_bound = search.at_bound;
  choice.status.text = fmt::format("log likelihood {:.6g}", search.log_likelihood);
  if (search.at_bound) {
    context.warn("at_bound",
                 "gp: the likelihood is largest at the edge of the search: sigma {:.3g}, amplitude {:.3g}, noise "
                 "{:.3g}; the features say little about the label, or determine it without noise",
                 search.parameters.sigma, search.parameters.amplitude, search.parameters.noise);
  } else if (!search.converged) {
    choice.status = {false, fmt::format("the search for parameters stopped at a slope of {:.2g} per row after {} "
                                        "iterations; set sigma, amplitude or noise",
                                        search.slope, search.iterations)};
  }
  return choice;
}

GpChoice choose_by_likelihood(const GpProblem& problem, const GpOptions& options, const Context& context) {
  const double sigma = problem.rows.kernel().sigma;
  const GpFixed fixed = given_parameters(options);
  const bool width_known = !problem.rows.has_width() || fixed.sigma;
  if (width_known && fixed.amplitude && fixed.noise) {
    GpChoice given;
    given.parameters = {fixed.sigma.value_or(sigma), *fixed.amplitude, *fixed.noise};
    given.status.text = "parameters as given";
    return given;
  }
  if (constant_labels(problem.y)) return choice_of_constant(options, sigma, problem.y, context);
  return choice_of(maximise_likelihood(problem, {.fixed = fixed}, context), context);
}

}  // namespace ecotone
