#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/moments/moments.h"

/// Models judged on groups that they were not given, and the choice among them.
namespace ecotone {

/// One setting of a model. Size 0 is the empty model, which predicts the mean.
struct Candidate {
  double lam = 0;
  double mix = 0;
  Index size = 0;
};

/// What models are judged by on a group left out, in the mean over groups: AUROC where y is -1 or +1 and rows are
/// there; else the squared loss of such y, or its root where y is a number, as
/// these are reported.
enum class LeftOutCriterion { auroc, squared_loss, rmse };
std::string_view criterion_name(LeftOutCriterion criterion);

/// How candidates do on groups that they were not given, and which is taken.
struct LeftOutTable {
  std::vector<Candidate> candidates;
  LeftOutCriterion criterion = LeftOutCriterion::squared_loss;
  std::vector<double> value;  ///< mean over the groups judged, one per candidate
  Index groups = 0;           ///< that could be judged: with AUROC those that have both classes
  Index folds = 0;
  Index best = 0;  ///< of equal values the smaller model, then the larger lam, then the smaller mix
  /// Of the best over the empty model, mean over groups: AUROC above 1/2, else how much less its squared loss is.
  double advantage = 0;
  double error = 0;         ///< standard error of that mean
  bool beats_empty = true;  ///< advantage > error; false where one group alone could be judged
};

/// AUROC and squared loss of candidates (columns) on every labelled group (rows); AUROC is NaN where a group has one
/// class only, or y is not -1 or +1.
struct LeftOutValues {
  Matrix auroc;
  Matrix loss;
};

/// Whether the empty model may be taken, or is there to be compared with alone.
enum class EmptyModel { may_win, compared };

/// Takes the best candidate by the mean over groups. AUROC is the criterion where any group has one, else `loss`.
LeftOutTable choose_left_out(std::vector<Candidate> candidates, const LeftOutValues& values, LeftOutCriterion loss,
                             EmptyModel empty, Index folds);

/// More groups are left out together, in so many folds.
inline constexpr Index most_group_folds = 64;

/// The labelled groups, by their places among them, that each fold leaves out: one each for up to 64 groups, else 64
/// folds, dealt in turn by sorted name, so that they do not depend on the order in which groups were met.
std::vector<std::vector<Index>> group_folds(const Moments& moments);

/// The rows that have y, by group.
std::vector<std::vector<Index>> rows_by_group(const MomentRows& rows);

/// Judges linear models on these rows, which are those of one labelled group: row `place` of the values. `weights` has
/// a column per model; `columns` are the features that its rows stand for, empty: all.
void judge_group(const MomentRows& rows, std::span<const Index> held, std::span<const Index> columns,
                 ConstMatrixView weights, ConstVectorView offset, Index place, LeftOutValues& values,
                 const Context& context);

}  // namespace ecotone
