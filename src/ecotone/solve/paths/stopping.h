#pragma once

#include <optional>
#include <vector>

#include "ecotone/solve/paths/greedy.h"
#include "ecotone/solve/paths/left_out.h"

/// Where a path should end, and what theory says about it.
namespace ecotone {

/// Theorem 1 of foster2012 for p features and n groups: with probability 1 - delta no feature without effect has a |T|
/// above the threshold, provided that log(2p/delta) <= n/8. Otherwise the threshold is a heuristic, not a guarantee.
struct Theorem1 {
  double threshold = 0;  ///< sqrt(4 log(2p/delta))
  bool valid = false;    ///< whether the condition holds
  double exact = 0;      ///< the proof inverted exactly: sqrt(L (n-1) / (n-L)), L = 2 log(2p/delta); infinite if L >= n
  Index n_paper = 0;     ///< groups that the condition needs
  Index n_exact = 0;     ///< groups that the exact inversion needs
  Index n_sign = 0;      ///< groups below which no sign test can work: p 2^(1-n) > delta
};
Theorem1 theorem1(Index features, Index groups, double delta);

/// Features taken before the first step with |T| <= threshold.
Index count_above(const PathResult& path, double threshold);
/// Features taken before the first step with p-value times p > delta.
Index count_student(const PathResult& path, Index features, double delta);

/// Corollary 3 for the chosen features of a path in mode ortho: a bound on the loss that their weights add, as printed,
/// with the slip corrected, and without its last simplification. Only a diagnostic unless `valid`.
struct Corollary3 {
  std::vector<double> sigma;
  double paper = 0;      ///< (8 q log p + log(2/delta)) sum sigma^2 / n
  double corrected = 0;  ///< with 4 log(2/delta)
  double tight = 0;      ///< 4 log(2 q p^q / delta) sum sigma^2 / n
  bool valid = false;    ///< log(2 q p^q / delta) <= n/8
  Index n_needed = 0;
};
Corollary3 corollary3(std::vector<double> sigma, Index features, Index groups, double delta);

/// Which size leave-one-group-out chooses: that of the smallest loss, or the smallest size within one standard error of
/// it.
enum class SizeRule { one_se, best };

/// Losses of paths on the group that each was fitted without.
struct LeaveOneOut {
  std::vector<std::vector<double>> table;  ///< [group][size], of the groups whose path is known
  std::vector<double> curve;               ///< averaged over groups
  Index best = 0;                          ///< first minimum of the curve
  Index best_one_se = 0;                   ///< smallest size within one standard error of the paired difference to it
  Index chosen = 0;          ///< by the rule; 0 unless it beats the empty model by one paired standard error
  bool beats_empty = false;  ///< whether the size chosen by the rule does
};
/// From one path per group, each fitted without it; at least one is known.
LeaveOneOut leave_one_out(const std::vector<PathResult>& folds, Index steps, SizeRule rule);

enum class PathStop { steps, lodo, student, theorem1 };

struct StopOptions {
  PathStop stop = PathStop::steps;
  double delta = 0.05;
  SizeRule size = SizeRule::one_se;
  bool folds = false;  ///< run leave-one-group-out even if the rule does not need it (and there are enough groups)
  RefittedRows refitted = {};  ///< the folds of leave-one-group-out; empty: one per group, of the given rows
};

/// A path, where it stops, and why.
struct Selection {
  PathResult path;  ///< all steps requested
  Index taken = 0;  ///< steps kept by the rule
  Theorem1 theorem1;
  Index above_threshold = 0;  ///< count_above with the threshold of Theorem 1, valid or not
  Index above_exact = 0;
  Index student = 0;
  std::optional<LeaveOneOut> left_out;
  std::vector<PathResult> folds;  ///< of leave-one-group-out, one per labelled group, not known if it cannot be fitted
  bool refitted = false;          ///< whether the folds had rows of their own
};

/// Runs the path and, alongside it, those of leave-one-group-out over the same columns, unless they have rows of their
/// own. Data errors `needs_two_domains`, `needs_three_domains` (leave-one-group-out with T).
Selection select_features(const Moments& moments, GramColumns& columns, const PathOptions& options,
                          const StopOptions& stop, const Context& context);

}  // namespace ecotone
