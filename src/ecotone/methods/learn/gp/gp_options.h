#pragma once

#include <tuple>

#include "ecotone/methods/kernel_fields.h"
#include "ecotone/solve/gp/mean.h"

namespace ecotone {

/// How parameters that are not given are found.
enum class GpFitRule { likelihood, cv };
enum class GpRoute { automatic, exact, low_rank };

/// Most rows that `route=auto` fits exactly: 3 s of processor time, and 20 s for twice as many.
inline constexpr Index most_exact_gp_rows = 2000;

/// Options of gp.
struct GpOptions {
  LearnerKernelKind kernel = LearnerKernelKind::automatic;
  AutoNumber sigma{};
  int degree = 3;
  double coef0 = 1;
  double scale = 1;
  GpMean mean = GpMean::constant;
  AutoNumber amplitude{};
  AutoNumber noise{};
  GpFitRule fit = GpFitRule::likelihood;
  GpRoute route = GpRoute::automatic;
  int rank = 1000;
  bool variance = true;
  bool distributional = false;
  AutoNumber sigma1{};

  static constexpr auto fields() {
    using O = GpOptions;
    auto kernel = learner_kernel_fields<O>();
    std::get<1>(kernel).help =
        "Width of rbf and laplacian; auto: chosen by fit, starting at the median distance; with distributional=true "
        "and "
        "fit=likelihood: the median distance itself";
    const auto process = std::tuple{
        field("mean", &O::mean,
              "Mean function. zero; average: the mean of the labels, taken as known; constant, linear: estimated by "
              "generalised least squares, and its uncertainty is part of the variance",
              one_of("zero", "average", "constant", "linear")),
        field("amplitude", &O::amplitude, "Variance of the function where k(x, x) = 1; auto: chosen by fit",
              above(0.0)),
        field("noise", &O::noise,
              "Variance of the label around the function, for a row of weight 1; auto: chosen by fit", at_least(0.0)),
        field("fit", &O::fit,
              "likelihood: maximise the marginal likelihood; cv: minimise the mean squared error in left-out domains "
              "over a grid, with the stages before it fitted again without each",
              one_of("likelihood", "cv"))};
    const auto others = std::tuple{
        field("route", &O::route,
              "exact: one factorisation of the rows' covariance; low_rank: a low-rank kernel map, time linear in the "
              "rows; auto: exact up to 2,000 rows",
              one_of("auto", "exact", "low_rank")),
        field("rank", &O::rank, "Largest number of landmarks of route=low_rank", between(1, 20000)),
        field("variance", &O::variance,
              "Also predict the standard deviation; false: only the mean, with a smaller model file"),
        field("distributional", &O::distributional,
              "Kernel k1(P, P') k2(x, x') of domains and rows: rows tell more about each other if the samples of their "
              "domains are similar"),
        field("sigma1", &O::sigma1,
              "Width of k1; auto: the median distance between the domains' mean embeddings, but at least the distance "
              "between samples of one distribution and a quarter of the spread within domains",
              above(0.0))};
    return std::tuple_cat(kernel, process, others);
  }
};

}  // namespace ecotone
