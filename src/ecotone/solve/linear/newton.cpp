#include "ecotone/solve/linear/newton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ecotone {
namespace {

// Relative to the natural size of the gradient.
constexpr double rounding_level = 4e-15;  // nothing left to gain
constexpr double target_level = 1e-13;    // sufficient after a step that converged quadratically
// Margins below this share of the largest count as ties.
constexpr double margin_tie = 1e-9;
constexpr double tie_at_end = 1e-5;
constexpr int trusted_iterations = 8;  // a Newton step points to infinity only after the finite part has settled

/// Every weighted row is classified correctly: no finite optimum without a penalty.
bool all_right(const LossSums& sums) { return sums.min_margin > margin_tie * sums.max_margin; }

/// A Newton step that moves scores this much is not rounding.
bool still_moves(const LossSums& along) { return along.max_margin > 0.1; }

/// Along this direction no row loses, and some gain without bound.
bool leads_to_infinity(const LossSums& along, double tolerance) {
  return still_moves(along) && along.min_margin >= -tolerance * along.max_margin;
}

/// Backtracks from theta + step; false if no length gives a decrease.
bool line_search(SmoothRisk& risk, const RiskPoint& here, const Matrix& step, double slope, RiskPoint& next,
                 double& length) {
  // Differences of risks below this are rounding.
  const double noise = 1e-14 * std::abs(here.risk);
  for (length = 1; length > 1e-12; length /= 2) {
    next = risk.at(here.theta + length * step);
    if (next.risk <= here.risk + 1e-4 * length * slope + noise) return true;
  }
  return false;
}

/// How accurately the step must be solved for: more and more as the gradient falls.
double step_accuracy(double level, const NewtonOptions& options, int iteration) {
  if (options.unpenalised && iteration >= trusted_iterations) return 1e-10;
  return std::clamp(std::sqrt(level), 1e-4, 0.1);
}

}  // namespace

double residual(const RiskPoint& point) {
  if (!point.gradient.allFinite()) return std::numeric_limits<double>::infinity();
  return point.gradient.size() == 0 ? 0.0 : point.gradient.cwiseAbs().maxCoeff();
}

RiskPoint penalised_point(Matrix theta, const Matrix& loss_gradient, const LossSums& sums, const Vector& penalty) {
  RiskPoint point;
  point.risk = sums.loss + (penalty.asDiagonal() * theta.cwiseAbs2()).sum();
  point.gradient = loss_gradient + 2.0 * (penalty.asDiagonal() * theta);
  point.sums = sums;
  point.theta = std::move(theta);
  return point;
}

NewtonResult minimise(SmoothRisk& risk, Matrix start, const NewtonOptions& options) {
  NewtonResult result;
  RiskPoint& here = result.point;
  here = risk.at(std::move(start));
  double level = residual(here) / options.scale;
  double decrement = std::numeric_limits<double>::infinity();
  LossSums along;
  for (int& iteration = result.iterations; iteration < options.max_iterations; ++iteration) {
    result.separable = options.unpenalised && all_right(here.sums);
    if (result.separable) return result;
    if (level <= std::max(rounding_level, options.tolerance) ||
        (level <= target_level && decrement <= 1e-12 * options.scale))
      break;
    const Matrix step = risk.newton_step(here, step_accuracy(level, options, iteration));
    if (options.unpenalised && iteration >= trusted_iterations) {
      along = risk.margins_along(step);
      result.separable = leads_to_infinity(along, margin_tie);
      if (result.separable) return result;
    }
    const double slope = inner(here.gradient, step);
    double length = 0;
    RiskPoint next;
    if (!(slope < 0) || !line_search(risk, here, step, slope, next, length)) break;
    const double next_level = residual(next) / options.scale;
    const bool stalled = level <= accepted_level && next_level > 0.5 * level;
    if (!stalled || next_level < level) here = std::move(next);
    level = residual(here) / options.scale;
    decrement = length == 1 ? -slope : std::numeric_limits<double>::infinity();
    if (stalled) break;
  }
  // The gradient vanishes while steps still move the scores: the optimum is at infinity.
  result.separable = leads_to_infinity(along, tie_at_end);
  result.converged = level <= std::max(accepted_level, options.tolerance) && !still_moves(along);
  return result;
}

}  // namespace ecotone
