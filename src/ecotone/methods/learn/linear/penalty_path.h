#pragma once

#include <optional>

#include "ecotone/methods/refits.h"
#include "ecotone/solve/linear/linear.h"

namespace ecotone {

/// Which penalty of a path is taken.
enum class PenaltyRule { best, one_se };

/// The penalties that were tried and their held-out losses, largest penalties first.
struct PenaltyPath {
  Vector l1;
  Vector l2;
  Vector loss;   ///< mean over folds, bounded as measure/fold_choice.h says
  Vector error;  ///< standard error of its difference from the smallest mean, paired over folds
  Index chosen = 0;
  Index folds = 0;
};

/// What is chosen on a path, and how.
struct PenaltyChoice {
  bool l1 = false;
  bool l2 = false;
  PenaltyRule rule = PenaltyRule::one_se;
};

/// Tries penalties in a cross-validation inside the training view: folds are whole domains (random rows where there is
/// only one), the stages before the learner are refitted in each, and each fit starts at the previous one. A penalty
/// that is not to be chosen stays as it is. The score is the mean loss of the held-out rows: the log loss of classes,
/// half the squared error of numbers, the loss of counts. l1 goes down from the smallest value at which all weights are
/// zero, l2 from ten times the features' mean variance times the loss's curvature. Nothing if no fold can be fitted.
std::optional<PenaltyPath> choose_penalties(const LinearProblem& problem, const Refits& refits,
                                            const PenaltyChoice& choice, const Context& context);

/// Whether l2=auto tries a path: at most `affordable_values` rows x columns x classes x folds x problems.
bool can_afford_path(const LinearProblem& problem, const Refits& refits);

/// The penalty of l2=auto without a path: 1 / (2 rows), as C=1 of svm.
double fixed_l2(const LinearProblem& problem);

}  // namespace ecotone
