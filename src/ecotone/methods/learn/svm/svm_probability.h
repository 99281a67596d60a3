#pragma once

#include <functional>

#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/learn/calibrate/score_maps.h"
#include "ecotone/methods/method.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// Fits a machine to the rows of a fold's training, whose labels and weights the problem has, and scores those held.
using SvmFoldScores = std::function<Vector(const SvmProblem& part, const InnerFold& fold)>;

/// Platt's map of the scores that machines give to rows that they did not see: up to five folds by whole domains, of
/// random rows where there is one domain, the same for the same seed. A fold whose other rows have one class is left
/// out; data error `no_cross_fit` when all are.
PlattMap svm_probability(const SvmProblem& problem, const TrainView& view, const SvmFoldScores& held_scores,
                         const Context& context);
/// The same of machines with a kernel. X are the labelled rows of the view, in the problem's order, `groups` their
/// domains (null: none).
PlattMap svm_probability(const SvmProblem& problem, const Kernel& kernel, const Matrix& x, const SvmGroups* groups,
                         const TrainView& view, const Context& context);

}  // namespace ecotone
