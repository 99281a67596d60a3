#pragma once

#include <deque>
#include <functional>
#include <limits>

#include "ecotone/solve/linear/newton.h"

namespace ecotone {

/// A step, and how the gradient changed along it.
struct CurvaturePair {
  Matrix s;
  Matrix y;
  double sy = 0;  ///< s'y
};
/// What L-BFGS knows of the curvature beside its preconditioner, oldest first.
using CurvaturePairs = std::deque<CurvaturePair>;

struct LbfgsOptions {
  double scale = 1;      ///< natural size of the gradient
  double tolerance = 0;  ///< largest entry of the gradient, relative to that size; 0: to the last digit
  int max_iterations = 1000;
  /// Makes a better preconditioner if progress is slow, with the risk at that point; may be empty, and may return an
  /// empty function.
  std::function<Preconditioner()> on_slow = {};
  bool at_once = false;   ///< call on_slow at the start
  bool to_scale = false;  ///< what on_slow makes has the size of the inverse Hessian and is used as it is
  /// What on_slow costs, in iterations: it is also called when more than these are expected to be left.
  double slow_cost = std::numeric_limits<double>::infinity();
  std::size_t memory = 10;    ///< pairs that are kept
  CurvaturePairs known = {};  ///< to begin with, of nearly the same risk and, if at_once, beside what on_slow makes
};

struct LbfgsResult {
  RiskPoint point;
  int iterations = 0;
  bool converged = false;
  bool preconditioned = false;  ///< whether on_slow was used
  CurvaturePairs pairs;         ///< at the end
};

/// L-BFGS; every iteration is one sweep over the rows for value and gradient, rarely more.
LbfgsResult minimise_lbfgs(CurvedRisk& risk, Matrix start, const LbfgsOptions& options);

}  // namespace ecotone
