#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ecotone/solve/paths/left_out.h"
#include "ecotone/solve/paths/scaled_means.h"

/// Ridge regression over groups of rows: the minimum of J(w) = mean_d L_d(w) + lam sum_i v_i w_i^2 over all features,
/// in the units of ScaledMeans; see penalised_path.h.
namespace ecotone {

/// Which equations are solved: of the p features, or of the N rows where these are fewer.
enum class RidgeRoute { features, rows };
std::string_view route_name(RidgeRoute route);

struct RidgePathOptions {
  std::string_view who = "ridge";
  std::optional<double> lam;     ///< empty: by leave-one-group-out, with the null check
  std::vector<double> mix{0.0};  ///< tried
  GroupShares shares = GroupShares::equal;
};

struct RidgePathFit {
  Vector weights;  ///< p, of x as given
  double offset = 0;
  double lam = 0;
  double mix = 0;
  RidgeRoute route = RidgeRoute::features;
  std::optional<LeftOutTable> table;  ///< when something was chosen
  bool kept_empty = false;  ///< the best did not beat the empty model by one standard error: all weights are 0
};

/// Penalties that are tried.
std::vector<double> ridge_penalties();

/// Chooses lam and mix by leave-one-group-out and fits all groups. A Cholesky factor per penalty and fold: p^3 / 3 (or
/// N^3 / 3) for each, which is less than one eigen-decomposition for so few penalties. Data errors `needs_two_domains`,
/// `not_enough_memory`, `singular`.
RidgePathFit fit_ridge_path(const MomentRows& rows, const RidgePathOptions& options, const Context& context);

/// The same by the given route, for tests.
RidgePathFit fit_ridge_path(const MomentRows& rows, const RidgePathOptions& options, RidgeRoute route,
                            const Context& context);

}  // namespace ecotone
