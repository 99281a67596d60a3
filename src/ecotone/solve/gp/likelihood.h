#pragma once

#include <optional>

#include "ecotone/solve/gp/gp.h"

namespace ecotone {

/// The log marginal likelihood of all outputs and its slopes in the logarithms of the parameters.
struct GpLikelihood {
  double value = 0;
  double by_sigma = 0;  ///< d value / d ln sigma; 0 where the kernel has no width
  double by_amplitude = 0;
  double by_noise = 0;
};

/// Empty where the covariance has no factor in double precision: there is no jitter here, which would make the
/// likelihood jump. Two n x n matrices; memory checked. Errors as check_gp.
std::optional<GpLikelihood> gp_likelihood(const GpProblem& problem, const GpParameters& parameters,
                                          const Context& context);

/// Parameters that are given and not searched for.
struct GpFixed {
  std::optional<double> sigma;
  std::optional<double> amplitude;
  std::optional<double> noise;
};

/// Where a search begins, and what is known of the curvature there.
struct GpStart {
  GpParameters parameters;
  Matrix inverse_hessian;  ///< in the logarithms of what is searched, of minus the likelihood; none: not known
};

struct GpSearchOptions {
  int starts = 3;            ///< 1 to 3, always the same ones
  double tolerance = 1e-5;   ///< of the slopes, per row and output
  int max_iterations = 100;  ///< of each start
  /// With at least three times as many rows the starts are followed on so many rows, drawn by the context's seed, and
  /// only the best of what they find is followed on all rows, with the curvature found there. 0: never.
  Index subset = 500;
  GpFixed fixed = {};
  std::optional<GpStart> from = {};  ///< the only start, where there is one
};

/// The best parameters that were found.
struct GpSearch {
  GpParameters parameters;
  double log_likelihood = 0;
  double slope = 0;     ///< largest slope per row and output, those that lead out of the box left out
  int iterations = 0;   ///< of the start that won
  int evaluations = 0;  ///< of the likelihood of all rows, all starts
  int subset_evaluations = 0;
  int start = 0;           ///< which won
  Matrix inverse_hessian;  ///< as the steps of the start that won know it
  bool converged = false;
  bool at_bound = false;  ///< a parameter that was searched for is at the edge of its box
};

/// Maximises the likelihood over a box: sigma within a factor of 1,000 of the kernel's own, amplitude k(x, x) within
/// 1e5 of the variance of Y, noise within 1e-8 to 1e2 of it. Starts are fixed: sigma times 1, 1/4, 4 with noise 10 %,
/// 1 % and 50 % of the variance. Quasi-Newton steps in the two or three logarithms, projected on the box. Data error
/// `not_positive_definite` when no start has a likelihood.
GpSearch maximise_likelihood(const GpProblem& problem, const GpSearchOptions& options, const Context& context);

}  // namespace ecotone
