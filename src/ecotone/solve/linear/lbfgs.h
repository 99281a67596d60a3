#pragma once

#include <functional>
#include <limits>

#include "ecotone/solve/linear/newton.h"

namespace ecotone {

struct LbfgsOptions {
  double scale = 1;      ///< natural size of the gradient
  double tolerance = 0;  ///< largest entry of the gradient, relative to that size; 0: to the last digit
  int max_iterations = 1000;
  /// Makes a better preconditioner if progress is slow, with the risk at that point; may be empty, and may return an
  /// empty function.
  std::function<Preconditioner()> on_slow = {};
  bool at_once = false;  ///< call on_slow at the start
  /// What on_slow costs, in iterations: it is also called when more than these are expected to be left.
  double slow_cost = std::numeric_limits<double>::infinity();
};

struct LbfgsResult {
  RiskPoint point;
  int iterations = 0;
  bool converged = false;
  bool preconditioned = false;  ///< whether on_slow was used
};

/// L-BFGS with ten pairs; every iteration is one sweep over the rows for value and gradient, rarely more.
LbfgsResult minimise_lbfgs(CurvedRisk& risk, Matrix start, const LbfgsOptions& options);

}  // namespace ecotone
