#include "ecotone/solve/gp/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/numbers.h"
#include "ecotone/solve/gp/factor.h"

namespace ecotone {
namespace {

constexpr double longest_step = 2;  // in logarithms

struct Start {
  double sigma;  // times the kernel's own
  double noise;  // share of the variance
};
constexpr std::array<Start, 3> all_starts{{{1, 0.1}, {0.25, 0.01}, {4, 0.5}}};

/// A point of the search: logarithms of amplitude, noise and, if there is one, sigma; and the objective there.
struct Point {
  Vector at;
  double value = infinity;  ///< minus the likelihood
  Vector slope;
};

struct Box {
  Vector low, high;
  Vector inside(const Vector& v) const { return v.cwiseMax(low).cwiseMin(high); }
  /// Derivatives that do not point out of the box.
  Vector free(const Point& p) const {
    Vector g = p.slope;
    for (Index j = 0; j < g.size(); ++j)
      if (low[j] == high[j] || (p.at[j] <= low[j] && g[j] > 0) || (p.at[j] >= high[j] && g[j] < 0)) g[j] = 0;
    return g;
  }
};

class LikelihoodSearch {
 public:
  LikelihoodSearch(const GpObjective& objective, const GpScales& scales, const GpSearchOptions& options,
                   const Context& context)
      : objective_(objective), scales_(scales), options_(options), fixed_(options.fixed), context_(context) {
    variance_ = scales.variance > 0 ? scales.variance : 1;
    amplitude_ = scales.diagonal > 0 ? variance_ / scales.diagonal : variance_;
    const Index count = scales.has_width ? 3 : 2;
    // Given parameters keep the logarithm 0, which is then ignored.
    box_ = {Vector::Zero(count), Vector::Zero(count)};
    const auto bound = [&](Index j, bool given, double centre, double below, double above) {
      if (given) return;
      box_.low[j] = std::log(centre * below);
      box_.high[j] = std::log(centre * above);
    };
    bound(0, fixed_.amplitude.has_value(), amplitude_, 1e-5, 1e5);
    bound(1, fixed_.noise.has_value(), variance_, 1e-8, 1e2);
    if (count == 3) bound(2, fixed_.sigma.has_value(), scales.sigma, 1e-3, 1e3);
  }

  GpSearch run() {
    if (options_.from) {
      GpSearch only = from(*options_.from);
      only.evaluations = evaluations_;
      return only;
    }
    GpSearch best;
    best.log_likelihood = -infinity;
    for (int s = 0; s < options_.starts; ++s) {
      const Start& start = all_starts[at(s)];
      GpSearch found =
          from({{scales_.sigma * start.sigma, amplitude_ * (1 - start.noise), variance_ * start.noise}, {}});
      found.start = s;
      if (found.log_likelihood > best.log_likelihood) best = found;
    }
    best.evaluations = evaluations_;
    return best;
  }

 private:
  const GpObjective& objective_;
  GpScales scales_;
  GpSearchOptions options_;
  GpFixed fixed_;
  const Context& context_;
  double variance_ = 1;
  double amplitude_ = 1;
  Box box_;
  int evaluations_ = 0;

  GpParameters parameters(const Vector& at) const {
    const double sigma = at.size() == 3 ? std::exp(at[2]) : scales_.sigma;
    return {fixed_.sigma.value_or(sigma), fixed_.amplitude.value_or(std::exp(at[0])),
            fixed_.noise.value_or(std::exp(at[1]))};
  }

  Point look(Vector at) {
    context_.check_cancelled();
    ++evaluations_;
    Point point{std::move(at), infinity, Vector()};
    const auto found = objective_(parameters(point.at));
    if (!found || !std::isfinite(found->value)) return point;
    point.value = -found->value;
    point.slope = Vector(point.at.size());
    point.slope.head(2) << -found->by_amplitude, -found->by_noise;
    if (point.at.size() == 3) point.slope[2] = -found->by_sigma;
    return point;
  }

  double level(const Point& p) const { return box_.free(p).cwiseAbs().maxCoeff() / scales_.values; }

  /// -H g over the free parameters, not longer than the longest step.
  Vector direction(const Point& here, const Matrix& inverse_hessian) const {
    const Vector g = box_.free(here);
    Vector step = -(inverse_hessian * g);
    for (Index j = 0; j < g.size(); ++j)
      if (g[j] == 0) step[j] = 0;
    if (!(step.dot(g) < 0)) step = -g / scales_.values;
    const double longest = step.cwiseAbs().maxCoeff();
    return longest > longest_step ? Vector(step * (longest_step / longest)) : step;
  }

  /// Backtracks along the projected step; false if no length gives a decrease.
  bool descend(const Point& here, const Vector& step, Point& next) {
    for (double length = 1; length > 1e-10; length *= 0.3) {
      Vector at = box_.inside(here.at + length * step);
      const double slope = here.slope.dot(at - here.at);
      if (!(slope < 0)) return false;
      next = look(std::move(at));
      if (next.value <= here.value + 1e-4 * slope) return true;
      // Below the last digits of the likelihood, decreases cannot be detected.
      if (-slope < 1e-14 * std::abs(here.value)) return false;
    }
    return false;
  }

  /// H <- (I - s y'/s'y) H (I - y s'/s'y) + s s'/s'y, if the curvature along s is positive.
  void update(Matrix& h, const Vector& s, const Vector& y, bool first) const {
    const double sy = s.dot(y);
    if (!(sy > 1e-10 * s.norm() * y.norm())) return;
    if (first) h = Matrix::Identity(s.size(), s.size()) * (sy / y.squaredNorm());
    const Matrix turn = Matrix::Identity(s.size(), s.size()) - s * y.transpose() / sy;
    h = turn * h * turn.transpose() + s * s.transpose() / sy;
  }

  GpSearch from(const GpStart& start) {
    Vector at(box_.low.size());
    at.head(2) << std::log(start.parameters.amplitude), std::log(start.parameters.noise);
    if (at.size() == 3) at[2] = std::log(start.parameters.sigma);
    Point here = look(box_.inside(at));
    GpSearch result;
    result.parameters = parameters(here.at);
    result.log_likelihood = -here.value;
    if (!std::isfinite(here.value)) return result;
    // The likelihood of n rows has curvature n / 2 in the logarithm of the noise.
    const bool known = start.inverse_hessian.rows() == here.at.size();
    Matrix inverse =
        known ? start.inverse_hessian : Matrix(Matrix::Identity(here.at.size(), here.at.size()) * (2 / scales_.values));
    for (; result.iterations < options_.max_iterations && level(here) > options_.tolerance; ++result.iterations) {
      Point next;
      if (!descend(here, direction(here, inverse), next)) break;
      update(inverse, next.at - here.at, next.slope - here.slope, !known && result.iterations == 0);
      here = std::move(next);
    }
    result.parameters = parameters(here.at);
    result.inverse_hessian = inverse;
    result.log_likelihood = -here.value;
    result.slope = level(here);
    result.converged = result.slope <= options_.tolerance;
    for (Index j = 0; j < here.at.size(); ++j)
      result.at_bound |= box_.low[j] < box_.high[j] && (here.at[j] <= box_.low[j] || here.at[j] >= box_.high[j]);
    return result;
  }
};

/// Some of the rows of a problem, copied.
struct PartOfRows {
  Matrix values, y, inputs;
  std::vector<double> weight;

  PartOfRows(const GpProblem& p, const std::vector<Index>& rows)
      : values(std::ssize(rows), p.rows.is_gram() ? std::ssize(rows) : p.rows.values().cols()),
        y(std::ssize(rows), p.y.cols()),
        inputs(p.inputs.rows() > 0 ? std::ssize(rows) : 0, p.inputs.cols()) {
    for (Index i = 0; i < std::ssize(rows); ++i) {
      const Index from = rows[at(i)];
      y.row(i) = p.y.row(from);
      if (inputs.rows() > 0) inputs.row(i) = p.inputs.row(from);
      if (!p.weight.empty()) weight.push_back(p.weight[at(from)]);
      if (!p.rows.is_gram()) {
        values.row(i) = p.rows.values().row(from);
        continue;
      }
      // Rows ascend, so entries of the lower triangle stay in the lower triangle.
      for (Index j = 0; j <= i; ++j) values(i, j) = values(j, i) = p.rows.values()(from, rows[at(j)]);
    }
  }

  GpProblem problem(const GpProblem& p) const {
    return {p.rows.is_gram() ? GpRows(values) : GpRows(p.rows.kernel(), values), y, inputs, p.mean, p.who, weight};
  }
};

std::vector<Index> drawn_rows(Index rows, Index count, const Context& context) {
  std::vector<Index> drawn = context.random("gp_search_rows").sample(rows, count);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

bool starts_on_part(const GpProblem& p, const GpSearchOptions& options) {
  if (options.from || options.subset <= 0 || p.rows.size() < 3 * options.subset) return false;
  return p.mean != GpMean::linear || 2 * p.inputs.cols() < options.subset;
}

}  // namespace

GpSearch maximise_objective(const GpObjective& objective, const GpScales& scales, const GpSearchOptions& options,
                            const char* who, const Context& context) {
  if (options.starts < 1 || options.starts > static_cast<int>(all_starts.size()))
    option_error("bad_option", "{}: starts must be in [1, {}], got {}", who, all_starts.size(), options.starts);
  if (!(options.tolerance > 0) || options.max_iterations < 0)
    option_error("bad_option", "{}: tolerance must be > 0 and max_iterations >= 0, got {} and {}", who,
                 options.tolerance, options.max_iterations);
  GpSearch best = LikelihoodSearch(objective, scales, options, context).run();
  if (!std::isfinite(best.log_likelihood))
    data_error("not_positive_definite",
               "{}: the covariance of the rows is not positive definite from any start; set noise > 0", who);
  return best;
}

GpSearch maximise_likelihood(const GpProblem& problem, const GpSearchOptions& options, const Context& context) {
  const double sigma = problem.rows.kernel().sigma;
  check_gp(problem, {sigma, 1, 1});
  if (starts_on_part(problem, options)) {
    const PartOfRows part(problem, drawn_rows(problem.rows.size(), options.subset, context));
    const GpSearch found = maximise_likelihood(part.problem(problem), options, context);
    GpSearchOptions onward = options;
    // The curvature of a likelihood grows with the number of rows.
    const double share = static_cast<double>(options.subset) / static_cast<double>(problem.rows.size());
    onward.from = GpStart{found.parameters, share * found.inverse_hessian};
    GpSearch result = maximise_likelihood(problem, onward, context);
    result.start = found.start;
    result.subset_evaluations = found.evaluations;
    return result;
  }
  const GpTargets targets(problem);
  const GpScales scales{.variance = targets.y.squaredNorm() / static_cast<double>(targets.y.size()),
                        .diagonal = problem.rows.diagonal().mean(),
                        .values = static_cast<double>(targets.y.size()),
                        .sigma = sigma,
                        .has_width = problem.rows.has_width()};
  return maximise_objective([&](const GpParameters& p) { return gp_likelihood(problem, p, context); }, scales, options,
                            problem.who, context);
}

}  // namespace ecotone
