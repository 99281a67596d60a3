#pragma once

#include "ecotone/data/dataset.h"
#include "ecotone/solve/linear/linear.h"

namespace ecotone {

/// Which penalty of a path is taken.
enum class PenaltyRule { best, one_se };

/// The penalties that were tried and their held-out losses, largest penalties first.
struct PenaltyPath {
  Vector l1;
  Vector l2;
  Vector loss;   ///< mean over folds
  Vector error;  ///< standard error of that mean
  Index chosen = 0;
  Index folds = 0;
};

/// Tries penalties in a cross-validation inside the training view: folds are whole domains (random rows where there is
/// only one), and each fit starts at the previous one. A penalty that is not to be chosen stays as it is.
/// l1 goes down from the smallest value at which all weights are zero, l2 from ten times the features' mean variance
/// times the loss's curvature. Data error `no_folds` when no fold can be fitted.
PenaltyPath choose_penalties(const LinearProblem& problem, const TrainView& view, bool choose_l1, bool choose_l2,
                             PenaltyRule rule, const Context& context);

}  // namespace ecotone
