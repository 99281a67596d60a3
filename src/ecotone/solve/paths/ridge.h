#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ecotone/solve/paths/left_out.h"
#include "ecotone/solve/paths/scaled_means.h"

/// Ridge regression over groups of rows: the minimum of J(w) = mean_d L_d(w) + lam sum_i v_i w_i^2 over all features,
/// in the units of ScaledMeans; see penalised.h.
namespace ecotone {

/// Which equations are solved: those of the p features, or those of the N rows if there are fewer.
enum class RidgeRoute { features, rows };
std::string_view route_name(RidgeRoute route);

struct RidgePathOptions {
  std::string_view who = "ridge";
  std::optional<double> lam;     ///< empty: chosen by leave-one-group-out, with the null check
  std::vector<double> mix{0.0};  ///< values to try
  GroupShares shares = GroupShares::equal;
  LeftOutJudge judge = {};
  RefittedRows refitted = {};  ///< the folds of the choice; empty: one per group, of the given rows
};

struct RidgePathFit {
  Vector weights;  ///< p, for x as given
  double offset = 0;
  double lam = 0;
  double mix = 0;
  RidgeRoute route = RidgeRoute::features;
  std::optional<LeftOutTable> table;  ///< if something was chosen
  bool kept_empty = false;  ///< the best did not beat the empty model by one standard error: all weights are 0
};

/// The penalties that are tried.
std::vector<double> ridge_penalties();

/// Chooses lam and mix by leave-one-group-out and fits all groups. One Cholesky factor per penalty and fold: p^3 / 3
/// (or N^3 / 3) each, which is less than one eigendecomposition for so few penalties. Data errors `needs_two_domains`,
/// `not_enough_memory`, `singular`.
RidgePathFit fit_ridge_path(const MomentRows& rows, const RidgePathOptions& options, const Context& context);

/// The same from moments with Gram matrices, without rows: candidates are judged by their squared error. Option error
/// `bad_option` for a score that needs rows; data error `no_gram`.
RidgePathFit fit_ridge_path(const Moments& moments, const RidgePathOptions& options, const Context& context);

/// The same by the given route, for tests.
RidgePathFit fit_ridge_path(const MomentRows& rows, const RidgePathOptions& options, RidgeRoute route,
                            const Context& context);

}  // namespace ecotone
