#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Optimal transport between two sets of masses: the plan of least cost, by the network simplex method.
///
/// Every source is joined to every sink. The algorithm is that of LEMON and POT (artificial root, strongly feasible
/// trees, blocks of arcs searched in turn for the entering one), on whole numbers: masses and costs are rounded once,
/// to 50 bits and, with more than 256 rows, costs to fewer, and from there on nothing is rounded. So it ends, and its
/// bytes are the same on every run. Arcs are not stored: beside the costs it needs a few numbers per row, and costs may
/// be computed anew each time.
namespace ecotone {

/// Writes the costs of moving source i to the sinks from, from + 1, ..., from + count - 1; they must not be negative,
/// and must be the same whenever they are asked for. Called from several threads.
using TransportCosts = std::function<void(Index i, Index from, Index count, double* out)>;

struct TransportMass {
  Index from = 0;
  Index to = 0;
  double mass = 0;
};

struct ExactPlan {
  std::vector<TransportMass> moved;  ///< by source, then sink; at most rows + columns - 1
  double cost = 0;
  std::int64_t pivots = 0;
  double rounding = 0;  ///< by how much the costs of pairs may have been rounded
  /// Whether rounded costs may have decided: one pair is very much farther apart than those of the plan.
  bool rounded() const { return rounding > 1e-6 * cost && cost > 0; }
};

/// Rows on either side up to which costs are kept, and up to which there is a plan at all.
inline constexpr Index most_kept_transport = 5000;
inline constexpr Index most_exact_transport = 20000;

/// The plan that moves masses a to masses b, both >= 0 and of sum 1. Data errors: `too_many_rows` beyond
/// `most_exact_transport`, `not_enough_memory`, `non_finite`.
ExactPlan exact_transport(ConstVectorView a, ConstVectorView b, const TransportCosts& costs, std::string_view who,
                          const Context& context);

/// |x_i - y_j|^2; both must outlive the result.
TransportCosts squared_distance_costs(ConstMatrixView x, ConstMatrixView y);

}  // namespace ecotone
