#pragma once

#include <array>
#include <functional>
#include <vector>

#include "ecotone/methods/learn/gp/gp_parameters.h"
#include "ecotone/methods/refits.h"

namespace ecotone {

/// Widths that folds choose among, as factors of those by rules of thumb.
struct GpWidths {
  double sigma = 1;
  double sigma1 = 1;

  bool operator==(const GpWidths&) const = default;
};

/// Factors of sigma, of sigma1, and noise / (amplitude mean k(x, x)), of which cross-validation tries all combinations.
inline constexpr std::array<double, 5> gp_sigma_factors{0.25, 0.5, 1, 2, 4};
inline constexpr std::array<double, 3> gp_sigma1_factors{0.3, 1, 3};
inline constexpr std::array<double, 6> gp_noise_ratios{1e-3, 1e-2, 1e-1, 1, 10, 100};

/// Gram matrices of rows.
using GpGram = std::function<Matrix(const GpWidths&)>;

/// A fit on labelled rows of a view whose widths and noise folds choose.
struct GpFoldProblem {
  const TrainView& view;
  GpMean mean = GpMean::constant;
  ConstMatrixView x;  ///< the labelled rows
  GpFixed given;
  std::vector<GpWidths> widths;                   ///< at least one
  std::function<GpGram(ConstMatrixView x)> gram;  ///< of all labelled rows with these features, which outlive it
  const Refits* refits = nullptr;                 ///< of the stages before the learner; null: there are none
};

/// What was chosen; of the choice's parameters sigma is not set.
struct GpFoldChoice {
  GpChoice choice;
  GpWidths widths;
  double error = 0;  ///< mean over domains of their mean squared errors
};

/// The candidate with the smallest mean squared error, averaged over domains, on folds of whole domains (of rows where
/// there is one domain); the first of equals. One factorisation for each candidate serves all folds, unless stages are
/// refitted: then every fold has features, and a fit of each candidate, of its own. Where amplitude and noise are both
/// free only their ratio is chosen so: the amplitude is then that of the largest likelihood. Data error `no_cross_fit`.
GpFoldChoice choose_by_folds(const GpFoldProblem& problem, const Context& context);

}  // namespace ecotone
