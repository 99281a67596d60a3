#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Entropic optimal transport between rows, with squared distances as costs. Sweeps scale a plan of the log domain;
/// its exponentials take up to 256 MB, and beyond that are computed anew in every sweep: memory is that of the rows.
namespace ecotone {

struct EntropicOptions {
  double reg = 0.05;        ///< eps = reg * mean cost
  double tolerance = 1e-9;  ///< sum of the differences of the plan's row sums from the masses
  int max_sweeps = 5000;
  double eta = 0;   ///< of classes: weight of sum_c sum_j sqrt(mass that class c sends to j) over mean cost
  int rounds = 10;  ///< of classes: that often the weights are set anew
  Index most_kept = Index{1} << 25;  ///< exponentials of a plan that are kept

  /// Of rounds before the last: they only say what a class's mass costs more, and no plan of theirs is used.
  double tolerance_of_round() const { return tolerance < 1e-8 ? 1e-8 : tolerance; }
};

struct EntropicPlan {
  Vector f;      ///< of the sources: P_ij = exp((f_i + g_j - c_ij) / eps)
  Vector g;      ///< of the sinks
  Matrix added;  ///< of classes: classes x sinks, added to the costs; empty: nothing
  double eps = 0;
  double mean_cost = 0;
  double cost = 0;      ///< of the plan, without the entropy
  double residual = 0;  ///< sum of the differences of the plan's row sums from the masses
  int sweeps = 0;
  int sweeps_of_last = 0;  ///< those of the last round of classes; all without classes
  bool converged = false;  ///< in the last round
};

/// Mean of |x - y|^2 over pairs of rows, by masses: from means and variances alone.
double mean_pair_cost(ConstMatrixView x, ConstMatrixView y, ConstVectorView a, ConstVectorView b);

/// The plan that moves masses a > 0 of the rows of x to masses b > 0 of those of y; both sum to 1. `cls`: of each row
/// of x, in [0, classes); empty: without classes. Data error `non_finite` where distances overflow.
EntropicPlan entropic_transport(ConstMatrixView x, ConstMatrixView y, ConstVectorView a, ConstVectorView b,
                                std::span<const std::int32_t> cls, Index classes, const EntropicOptions& options,
                                std::string_view who, const Context& context);

/// T(x_i) = sum_j P_ij y_j / sum_j P_ij
Matrix barycentric_map(ConstMatrixView x, ConstMatrixView y, std::span<const std::int32_t> cls,
                       const EntropicPlan& plan, const Context& context);

/// The whole plan, for small data.
Matrix plan_of(ConstMatrixView x, ConstMatrixView y, std::span<const std::int32_t> cls, const EntropicPlan& plan);

}  // namespace ecotone
