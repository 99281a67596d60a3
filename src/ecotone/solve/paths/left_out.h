#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/moments/moments.h"

/// Models judged on groups that they were not fitted on, and the choice among them.
namespace ecotone {

/// One setting of a model. Size 0 is the empty model, which predicts the mean.
struct Candidate {
  double lam = 0;
  double mix = 0;
  Index size = 0;
};

/// The criterion by which models are judged on held-out groups, averaged over groups: AUROC if y is -1 or +1 and rows
/// are available; otherwise the squared loss for such y, or its root for regression, as these are reported.
enum class LeftOutCriterion { auroc, squared_loss, rmse };
std::string_view criterion_name(LeftOutCriterion criterion);

/// The performance of candidates on groups that they were not fitted on, and the choice.
struct LeftOutTable {
  std::vector<Candidate> candidates;
  LeftOutCriterion criterion = LeftOutCriterion::squared_loss;
  std::vector<double> value;  ///< averaged over the judged groups, one per candidate
  Index groups = 0;           ///< number of groups that could be judged: for AUROC those with both classes
  Index folds = 0;
  Index best = 0;  ///< at equal values the smaller model, then the larger lam, then the smaller mix
  /// Advantage of the best over the empty model, averaged over groups: AUROC above 1/2, or the reduction of the squared
  /// loss.
  double advantage = 0;
  double error = 0;         ///< standard error of that mean
  bool beats_empty = true;  ///< advantage > error; false if only one group could be judged
};

/// AUROC and squared loss of candidates (columns) on every labelled group (rows); AUROC is NaN if a group has only one
/// class, or y is not -1 or +1.
struct LeftOutValues {
  Matrix auroc;
  Matrix loss;
};

/// Whether the empty model may be chosen, or serves only for comparison.
enum class EmptyModel { may_win, compared };

/// Chooses the best candidate by the mean over groups. The criterion is AUROC if any group has one, otherwise `loss`.
LeftOutTable choose_left_out(std::vector<Candidate> candidates, const LeftOutValues& values, LeftOutCriterion loss,
                             EmptyModel empty, Index folds);

/// With more groups, several are left out together, in this many folds.
inline constexpr Index most_group_folds = 64;

/// The labelled groups, by their positions among them, that each fold leaves out: one each for up to 64 groups,
/// otherwise 64 folds, dealt in turn by sorted name, so that they do not depend on the order in which groups occur.
std::vector<std::vector<Index>> group_folds(const Moments& moments);

/// The rows that have y, by group.
std::vector<std::vector<Index>> rows_by_group(const MomentRows& rows);

/// Judges linear models on these rows, which are those of one labelled group: row `place` of the values. `weights` has
/// a column per model; `columns` are the features that its rows stand for (empty: all).
void judge_group(const MomentRows& rows, std::span<const Index> held, std::span<const Index> columns,
                 ConstMatrixView weights, ConstVectorView offset, Index place, LeftOutValues& values,
                 const Context& context);

}  // namespace ecotone
