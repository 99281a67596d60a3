#include "ecotone/solve/linear/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace ecotone {
namespace {

constexpr int patience = 12;  // iterations before progress is judged
constexpr double slow = 0.1;  // share of the gradient that may remain after as many

/// -H g by the two-loop recursion, with the scaled preconditioner in the middle.
Matrix direction(const CurvaturePairs& pairs, const Preconditioner& precondition, const Matrix& gradient,
                 bool to_scale) {
  Matrix q = gradient;
  std::vector<double> alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = inner(pairs[i].s, q) / pairs[i].sy;
    q -= alpha[i] * pairs[i].y;
  }
  q = precondition(q);
  if (!pairs.empty() && !to_scale) {
    // gamma = s'y / y'M y scales M to the last curvature.
    const CurvaturePair& last = pairs.back();
    const double size = inner(last.y, precondition(last.y));
    if (size > 0) q *= last.sy / size;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double beta = inner(pairs[i].y, q) / pairs[i].sy;
    q += (alpha[i] - beta) * pairs[i].s;
  }
  return -q;
}

/// Backtracks with quadratic interpolation; false if no length gives a decrease. Near the optimum rounding blurs the
/// risk long before its gradient: there the slope at the end of the step decides whether the risk fell, by the
/// condition that is equivalent for a quadratic.
bool line_search(CurvedRisk& risk, const RiskPoint& here, const Matrix& step, double slope, double scale,
                 RiskPoint& next) {
  constexpr double part = 1e-4;  // share of the decrease promised by the slope
  const double blur = 1e-12 * (std::abs(here.risk) + scale);
  double length = 1;
  for (int trial = 0; trial < 40; ++trial) {
    next = risk.look(here.theta + length * step);
    const double rise = next.risk - here.risk;
    if (rise <= part * length * slope) return true;
    if (std::abs(rise) <= blur && inner(next.gradient, step) <= (2 * part - 1) * slope) return true;
    const double best = -slope * length * length / (2 * (rise - slope * length));
    length = std::isfinite(rise) ? std::clamp(best, 0.1 * length, 0.5 * length) : 0.1 * length;
  }
  return false;
}

/// Iterations until the goal, at the rate of the last `patience` ones.
double expected_iterations(double past, double level, double goal) {
  if (!(level < past)) return std::numeric_limits<double>::infinity();
  return patience * std::log(level / goal) / std::log(past / level);
}

}  // namespace

LbfgsResult minimise_lbfgs(CurvedRisk& risk, Matrix start, const LbfgsOptions& options) {
  LbfgsResult result;
  RiskPoint& here = result.point;
  here = risk.at(std::move(start));
  const Vector diagonal = risk.inverse_diagonal();
  Preconditioner precondition = [&diagonal](const Matrix& v) { return Matrix(diagonal.asDiagonal() * v); };
  CurvaturePairs& pairs = result.pairs;
  pairs = options.known;
  bool foreign = !pairs.empty();  // whether some are of another risk
  double level = residual(here) / options.scale;
  const double first_level = level;
  const double goal = std::max(options.tolerance, 4e-15);
  double past = level;  // `patience` iterations ago
  bool asked = false;   // whether on_slow was called
  int idle = 0;
  for (int& iteration = result.iterations; iteration < options.max_iterations; ++iteration) {
    if (level <= goal) break;
    bool is_slow = options.at_once && iteration == 0;
    if (iteration > 0 && iteration % patience == 0) {
      is_slow = (iteration == patience && level > slow * first_level) ||
                expected_iterations(past, level, goal) > options.slow_cost;
      past = level;
    }
    if (options.on_slow && is_slow && !asked) {
      asked = true;
      if (iteration > 0) here = risk.at(here.theta);
      if (Preconditioner better = options.on_slow()) {
        precondition = std::move(better);
        if (iteration > 0) pairs.clear();
        result.preconditioned = true;
      }
    }
    Matrix step = direction(pairs, precondition, here.gradient, options.to_scale && result.preconditioned);
    double slope = inner(here.gradient, step);
    if (!(slope < 0)) {
      pairs.clear();
      step = -precondition(here.gradient);
      slope = inner(here.gradient, step);
    }
    RiskPoint next;
    if (!(slope < 0) || !line_search(risk, here, step, slope, options.scale, next)) {
      if (!foreign) break;
      pairs.clear();
      foreign = false;
      continue;
    }
    CurvaturePair pair{next.theta - here.theta, next.gradient - here.gradient, 0};
    pair.sy = inner(pair.s, pair.y);
    const double next_level = residual(next) / options.scale;
    // Near the end rounding dominates: stop after a few steps without a smaller gradient.
    idle = next_level < 0.9 * level ? 0 : idle + 1;
    const bool keep = next_level <= level || level > accepted_level;
    if (keep) here = std::move(next);
    level = residual(here) / options.scale;
    if (level <= accepted_level && idle >= 5) break;
    if (pair.sy > 1e-16 * pair.y.squaredNorm()) {
      pairs.push_back(std::move(pair));
      if (pairs.size() > options.memory) pairs.pop_front();
    }
  }
  result.converged = level <= std::max(goal, accepted_level);
  return result;
}

}  // namespace ecotone
