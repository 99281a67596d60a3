#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ecotone/solve/paths/left_out.h"
#include "ecotone/solve/paths/penalised.h"

namespace ecotone {

struct PenalisedOptions {
  std::string_view who = "step";
  Index steps = 100;             ///< largest size
  std::optional<double> lam;     ///< empty: chosen by leave-one-group-out
  std::optional<Index> size;     ///< empty: chosen by leave-one-group-out, 0 unless it beats the empty model
  std::vector<double> mix{0.0};  ///< values to try
  GroupShares shares = GroupShares::equal;
  LeftOutJudge judge = {};
  bool folds = false;          ///< run leave-one-group-out even if nothing is to be chosen (and there are two groups)
  RefittedRows refitted = {};  ///< the folds of leave-one-group-out; empty: those of group_folds, of the given rows
  double zero = 1e-12;         ///< relative size below which a covariance is 0; 1e-5 with float Gram matrices
};

/// A penalised path, and how lam, mix and size were chosen.
struct PenalisedSelection {
  PathResult path;  ///< the steps that were taken
  Penalty penalty;
  std::optional<LeftOutTable> table;  ///< if something was chosen
  std::optional<Index> first;         ///< if no step was taken: the feature that would have been the first
  bool kept_empty = false;            ///< the best size did not beat the empty model by one standard error
  /// For the chosen penalty, all steps, one per labelled group, fitted without it; not `known` if a stage before it
  /// could not be.
  std::vector<PathResult> folds;
  bool refitted = false;  ///< whether the folds had rows of their own
};

/// The penalties that are tried.
std::vector<double> step_penalties();
/// The sizes that are tried: 0, 1, 2, 3, 5, ... up to `most`, and `most`.
std::vector<Index> step_sizes(Index most);

/// Chooses lam, mix and size by leave-one-group-out, and runs the path over all groups. The moments alone determine the
/// squared error; the other scores need `rows`. Data error `needs_two_domains` if something is to be chosen from one
/// group.
PenalisedSelection select_penalised(const Moments& moments, GramColumns& columns, const MomentRows* rows,
                                    const PenalisedOptions& options, const Context& context);

}  // namespace ecotone
