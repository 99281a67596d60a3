#pragma once

#include <functional>
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

/// The criterion by which models are judged on held-out groups, averaged over groups. log_loss: of the probability
/// 1 / (1 + exp(-2 score)) that these models predict; it and AUROC need rows, and y that is -1 or +1.
enum class LeftOutCriterion { auroc, squared_loss, rmse, log_loss };
std::string_view criterion_name(LeftOutCriterion criterion);

/// What the user asks for. automatic: the log loss where it is defined, otherwise the squared error.
enum class LeftOutScore { automatic, log_loss, squared_error, rmse, auroc };
/// one_se: the simplest candidate whose value differs from the best one by at most the standard error of their
/// difference, paired over groups: fewest features, then the largest penalty.
enum class LeftOutRule { best, one_se };

/// How candidates are judged and chosen.
struct LeftOutJudge {
  LeftOutScore score = LeftOutScore::automatic;
  LeftOutRule rule = LeftOutRule::one_se;
};

/// The criterion of a score. Option error `bad_option` if it is not defined: `classes`, whether y is -1 or +1; `rows`,
/// whether there are rows and not only sums.
LeftOutCriterion criterion_of(std::string_view who, LeftOutScore score, bool classes, bool rows);

/// The performance of candidates on groups that they were not fitted on, and the choice.
struct LeftOutTable {
  std::vector<Candidate> candidates;
  LeftOutCriterion criterion = LeftOutCriterion::squared_loss;
  std::vector<double> value;  ///< averaged over the judged groups, one per candidate
  Index groups = 0;           ///< number of groups that could be judged: for AUROC those with both classes
  Index folds = 0;
  Index best = 0;  ///< the chosen one; at equal values the smaller model, then the larger lam, then the smaller mix
  /// Advantage of the chosen over the empty model, averaged over groups: AUROC above 1/2, or the reduction of the
  /// bounded loss.
  double advantage = 0;
  double error = 0;  ///< standard error of that mean
  /// Whether the advantage, or the AUROC minus 1/2 where there is one, exceeds its standard error: probabilities may be
  /// too sure for other domains although the order of the rows is right there. False if only one group could be judged.
  bool beats_empty = true;
};

/// The performance of candidates (columns) on every labelled group (rows); AUROC is NaN if a group has only one class,
/// AUROC and log loss if y is not -1 or +1.
struct LeftOutValues {
  Matrix auroc;
  Matrix loss;  ///< squared
  Matrix log_loss;

  LeftOutValues(Index groups, Index candidates);
};

/// Folds with rows of their own: what the stages before a method make of all rows when they are fitted without the
/// rows that the fold leaves out.
struct RefittedRows {
  std::vector<std::vector<Index>> held;  ///< the groups that each fold leaves out
  /// Calls `use` with the rows of a fold; does not if the stages cannot be fitted without those left out.
  std::function<void(std::size_t fold, const std::function<void(const MomentRows&)>& use)> rows;
};

/// Chooses a candidate other than the empty model by the mean over groups, and compares it with the empty model. If no
/// group has an AUROC, the squared loss takes its place.
LeftOutTable choose_left_out(std::vector<Candidate> candidates, const LeftOutValues& values, LeftOutCriterion criterion,
                             LeftOutRule rule, Index folds);

/// With more groups, several are left out together, in this many folds.
inline constexpr Index most_group_folds = 64;

/// The labelled groups, by their positions among them, that each fold leaves out: one each for up to 64 groups,
/// otherwise 64 folds, dealt in turn by sorted name, so that they do not depend on the order in which groups occur.
std::vector<std::vector<Index>> group_folds(const Moments& moments);

/// The same for folds with rows of their own; those of group_folds if there are none.
std::vector<std::vector<Index>> left_out_folds(const Moments& moments, const RefittedRows& refitted);
/// Says that no fold has rows of its own, so that the choice is made without refits.
void note_nothing_refitted(std::string_view who, const Context& context);

/// The rows that have y, by group.
std::vector<std::vector<Index>> rows_by_group(const MomentRows& rows);

/// Judges linear models on these rows, which are those of one labelled group: row `place` of the values. `weights` has
/// a column per model; `columns` are the features that its rows stand for (empty: all).
void judge_group(const MomentRows& rows, std::span<const Index> held, std::span<const Index> columns,
                 ConstMatrixView weights, ConstVectorView offset, Index place, LeftOutValues& values,
                 const Context& context);

}  // namespace ecotone
