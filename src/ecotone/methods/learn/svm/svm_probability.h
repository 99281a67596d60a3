#pragma once

#include <functional>
#include <optional>

#include "ecotone/methods/learn/calibrate/score_maps.h"
#include "ecotone/methods/refits.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// Fits the training rows of a fold, whose labels and weights the problem has, and scores its held-out rows.
using SvmFoldScores = std::function<Vector(const SvmProblem& part, const InnerFold& fold)>;

/// Platt's map of out-of-fold scores: up to five folds of whole domains, or of random rows where there is one domain,
/// the same for the same seed. A fold without which all rows are of one class is skipped; data error `no_cross_fit`
/// when all are.
PlattMap svm_probability(const SvmProblem& problem, const TrainView& view, const SvmFoldScores& held_scores,
                         const Context& context);
/// The same for the exact route. X are the labelled rows of the view, in the problem's order, `groups` their
/// domains (null: none).
PlattMap svm_probability(const SvmProblem& problem, const Kernel& kernel, const Matrix& x, const SvmGroups* groups,
                         const TrainView& view, const Context& context);

/// Fits a view and scores other rows.
using SvmViewScores = std::function<Vector(const TrainView& train, const Batch& held)>;
/// The same with the stages before it refitted in every fold (up to ten). Nothing, with a note, if they cannot be
/// fitted without any of them.
std::optional<PlattMap> svm_probability(const TrainView& view, const Refits& refits, const SvmViewScores& held_scores,
                                        const Context& context);

}  // namespace ecotone
