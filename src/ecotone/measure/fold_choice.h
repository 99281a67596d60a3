#pragma once

#include <span>

#include "ecotone/linalg/matrix.h"

/// Choosing among candidates by their losses on folds that they were not fitted on. A table of losses has a row for
/// each fold and a column for each candidate.
namespace ecotone {

/// With fewer folds, a standard error says too little: the one-standard-error rule then takes the best.
inline constexpr Index fewest_folds_for_one_se = 5;

/// The most that each fold may count: the loss of a constant prediction there plus the largest gain over it that any
/// candidate has on any fold, so that a fold counts against a candidate at most as much as another one can count for
/// it. Losses have no other bound, and a single domain that differs in everything would decide alone, in favour of
/// whatever says least. (A bound at the constant prediction itself would count all gains and no losses.)
/// Missing values are NaN.
Vector loss_bounds(const Matrix& losses, const Vector& constant);

/// The losses, none of them above its fold's bound.
Matrix bounded_losses(const Matrix& losses, const Vector& constant);

/// The standard errors of the differences between each column and column `best`, paired over folds; 0 with one fold.
Vector paired_errors(const Matrix& losses, Index best);

/// The one-standard-error rule: whether a candidate is worse than another by more than the standard error of their
/// difference. Given are the differences of their losses, paired over folds; with one fold any difference counts.
bool clearly_worse(std::span<const double> differences);

/// The first of these candidates, listed from the simplest on, that is not clearly worse than the best; `best` if there
/// is none or if folds are too few.
Index simplest_within_error(const Matrix& losses, Index best, std::span<const Index> simplest_first);

}  // namespace ecotone
