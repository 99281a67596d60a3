#pragma once

#include <optional>

#include "ecotone/solve/gp/gp.h"

namespace ecotone {

/// The log marginal likelihood of all outputs and its derivatives with respect to the logarithms of the parameters.
struct GpLikelihood {
  double value = 0;
  double by_sigma = 0;  ///< d value / d ln sigma; 0 if the kernel has no width
  double by_amplitude = 0;
  double by_noise = 0;
};

/// Empty if the covariance has no factor in double precision: no jitter is added here, because it would make the
/// likelihood jump. Needs two n x n matrices; memory is checked. Errors as for check_gp.
std::optional<GpLikelihood> gp_likelihood(const GpProblem& problem, const GpParameters& parameters,
                                          const Context& context);

/// Parameters that are given and not searched for.
struct GpFixed {
  std::optional<double> sigma;
  std::optional<double> amplitude;
  std::optional<double> noise;
};

/// Where a search starts, and what is known about the curvature there.
struct GpStart {
  GpParameters parameters;
  Matrix inverse_hessian;  ///< of minus the likelihood in the logarithms of the searched parameters; empty: unknown
};

struct GpSearchOptions {
  int starts = 3;            ///< 1 to 3, always the same
  double tolerance = 1e-5;   ///< of the derivatives, per row and output
  int max_iterations = 100;  ///< of each start
  /// With at least three times as many rows, the starts are followed on this many rows, drawn with the context's seed,
  /// and only the best result is followed on all rows, with the curvature found there. 0: never.
  Index subset = 500;
  GpFixed fixed = {};
  std::optional<GpStart> from = {};  ///< the only start, if given
};

/// The best parameters found.
struct GpSearch {
  GpParameters parameters;
  double log_likelihood = 0;
  double slope = 0;     ///< largest derivative per row and output, without those that point out of the box
  int iterations = 0;   ///< of the winning start
  int evaluations = 0;  ///< of the likelihood of all rows, all starts
  int subset_evaluations = 0;
  int start = 0;           ///< the winning start
  Matrix inverse_hessian;  ///< as estimated by the steps of the winning start
  bool converged = false;
  bool at_bound = false;  ///< a parameter that was searched for is at the edge of its box
};

/// Maximises the likelihood over a box: sigma within a factor of 1,000 of the kernel's own, amplitude k(x, x) within
/// 1e5 of the variance of Y, noise within 1e-8 to 1e2 of it. The starts are fixed: sigma times 1, 1/4, 4 with noise
/// 10%, 1% and 50% of the variance. Quasi-Newton steps in the two or three logarithms, projected onto the box. Data
/// error `not_positive_definite` if no start has a likelihood.
GpSearch maximise_likelihood(const GpProblem& problem, const GpSearchOptions& options, const Context& context);

}  // namespace ecotone
