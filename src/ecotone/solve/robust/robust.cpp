#include "ecotone/solve/robust/robust.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/solve/linear/checks.h"
#include "ecotone/solve/linear/lbfgs.h"
#include "ecotone/solve/robust/domain_losses.h"
#include "ecotone/solve/robust/mixture.h"

namespace ecotone {
namespace {

constexpr double bound_gap = 1e-9;        // of upper and lower bound, relative, at which the mixture is found
constexpr double solved_gradient = 1e-7;  // of a problem that rounding keeps from its tolerance

/// Value and gradient of a smooth part of the risk, without the penalty.
using SmoothPart = std::function<double(const Matrix& theta, Matrix& gradient)>;

/// The smooth part plus the penalty, as L-BFGS sees it.
class RobustSum final : public CurvedRisk {
 public:
  RobustSum(SmoothPart part, Vector penalty) : part_(std::move(part)), penalty_(std::move(penalty)) {}

  RiskPoint at(Matrix theta) override { return look(std::move(theta)); }
  RiskPoint look(Matrix theta) override {
    RiskPoint point;
    Matrix gradient = Matrix::Zero(theta.rows(), theta.cols());
    point.risk = part_(theta, gradient) + (penalty_.asDiagonal() * theta).cwiseProduct(theta).sum();
    point.gradient = gradient + 2 * (penalty_.asDiagonal() * theta);
    point.theta = std::move(theta);
    return point;
  }
  Matrix newton_step(const RiskPoint&, double) override { internal_error("robust risk: no Newton step"); }
  LossSums margins_along(const Matrix&) override { internal_error("robust risk: no margins"); }
  Vector row_curvature(Index) const override { internal_error("robust risk: no curvature of rows"); }
  Vector inverse_diagonal() const override { return (penalty_.array() * 2 + 1).inverse(); }

 private:
  SmoothPart part_;
  Vector penalty_;
};

Vector losses_of(const std::vector<DomainPoint>& points) {
  Vector losses(static_cast<Index>(points.size()));
  for (std::size_t e = 0; e < points.size(); ++e) losses[static_cast<Index>(e)] = points[e].loss;
  return losses;
}

[[noreturn]] void refuse_overflow(const RobustProblem& problem) {
  data_error("non_finite", "{}: the losses overflow; scale the features or divide the labels", problem.linear.who);
}

/// All that the risks share.
class RobustSolver {
 public:
  RobustSolver(const RobustProblem& problem, const Context& context)
      : problem_(problem),
        context_(context),
        rows_(problem.linear, problem.domain, problem.domains, context),
        penalty_(rows_.penalty(problem.linear.l2)),
        scale_(rows_.gradient_scale(domain_mass())) {}

  RobustFit solve() {
    Matrix theta = Matrix::Zero(rows_.parameters(), rows_.outputs());
    RobustFit result;
    switch (problem_.risk) {
      case RobustRisk::vrex:
        result = along_path(theta, [this](double lam) { return vrex(lam); });
        break;
      case RobustRisk::irm:
        result = along_path(theta, [this](double lam) { return irm(lam); });
        break;
      case RobustRisk::anchor:
        result = along_path(theta, [this](double gamma) { return anchored(gamma); });
        break;
      case RobustRisk::cvar_domains:
      case RobustRisk::worst:
        result = worst_domains(theta);
        break;
      case RobustRisk::cvar_rows:
        result = worst_rows(theta);
        break;
    }
    const Vector losses = losses_of(rows_.at_point(rows_.parameters_of(result.fit), DomainExtra::none, context_));
    result.losses = by_domain(losses);
    return result;
  }

 private:
  const RobustProblem& problem_;
  const Context& context_;
  DomainLosses rows_;
  Vector penalty_;
  double scale_;  ///< natural size of the gradient

  /// What anchor's sum of losses is divided by.
  double anchor_norm() const {
    return problem_.linear.norm_by_weights ? rows_.weight().sum() : static_cast<double>(problem_.linear.x.rows());
  }

  /// What each domain's mean loss counts in the risk of a plain mixture.
  Vector domain_mass() const {
    switch (problem_.risk) {
      case RobustRisk::anchor:
        return rows_.weight() / anchor_norm();
      case RobustRisk::cvar_rows:
        return rows_.weight() / rows_.weight().sum();
      default:
        return Vector::Constant(rows_.count(), 1 / static_cast<double>(rows_.count()));
    }
  }

  Vector by_domain(const Vector& values) const {
    Vector all = Vector::Constant(problem_.domains, std::numeric_limits<double>::quiet_NaN());
    for (Index k = 0; k < rows_.count(); ++k) all[rows_.domain(k)] = values[k];
    return all;
  }

  LbfgsResult minimise_part(const SmoothPart& part, const Matrix& start, double tolerance) const {
    RobustSum sum(part, penalty_);
    context_.check_cancelled();
    return minimise_lbfgs(
        sum, start, {.scale = scale_, .tolerance = tolerance, .max_iterations = problem_.max_iterations, .memory = 40});
  }

  /// The result of a run, in the units of the features.
  RobustFit fit_of(const LbfgsResult& run, int iterations) const {
    RobustFit result;
    static_cast<LinearScores&>(result.fit) = rows_.scores(run.point.theta);
    result.fit.risk = run.point.risk;
    const Matrix gradient = rows_.in_units(run.point.gradient);
    result.fit.kkt = gradient.allFinite() ? gradient.cwiseAbs().maxCoeff() : std::numeric_limits<double>::infinity();
    result.fit.iterations = iterations;
    result.fit.converged = run.converged;
    result.fit.solver = LinearSolver::lbfgs;
    return result;
  }

  /// mean_e L_e + lam var_e L_e
  SmoothPart vrex(double lam) const {
    return [this, lam](const Matrix& theta, Matrix& gradient) {
      const std::vector<DomainPoint> points = rows_.at_point(theta, DomainExtra::none, context_);
      const Vector losses = losses_of(points);
      const auto count = static_cast<double>(points.size());
      const Vector apart = losses.array() - losses.mean();
      for (std::size_t e = 0; e < points.size(); ++e)
        gradient += (1 + 2 * lam * apart[static_cast<Index>(e)]) / count * points[e].gradient;
      return losses.mean() + lam * apart.squaredNorm() / count;
    };
  }

  /// mean_e (L_e + lam D_e^2)
  SmoothPart irm(double lam) const {
    return [this, lam](const Matrix& theta, Matrix& gradient) {
      const auto count = static_cast<double>(rows_.count());
      double risk = 0;
      for (const DomainPoint& point : rows_.at_point(theta, DomainExtra::pull, context_)) {
        risk += (point.loss + lam * point.extra * point.extra) / count;
        gradient += (point.gradient + 2 * lam * point.extra * point.extra_gradient) / count;
      }
      return risk;
    };
  }

  /// (1/A) (sum of losses + (gamma - 1)/2 sum_e n_e R_e^2); `more` is gamma - 1
  SmoothPart anchored(double more) const {
    const double norm = anchor_norm();
    return [this, more, norm](const Matrix& theta, Matrix& gradient) {
      const std::vector<DomainPoint> points = rows_.at_point(theta, DomainExtra::drift, context_);
      double risk = 0;
      for (std::size_t e = 0; e < points.size(); ++e) {
        const DomainPoint& point = points[e];
        const double part = rows_.weight()[static_cast<Index>(e)] / norm;
        risk += part * (point.loss + 0.5 * more * point.extra * point.extra);
        gradient += part * (point.gradient + more * point.extra * point.extra_gradient);
      }
      return risk;
    };
  }

  /// Runs at 0, 1/100, 1/10 and 1 times the strength, each from the last one; and, of what is not convex, one from 0.
  RobustFit along_path(const Matrix& start, const std::function<SmoothPart(double)>& part) const {
    const double strength = problem_.risk == RobustRisk::anchor ? problem_.gamma - 1 : problem_.lam;
    const double tolerance = std::max(problem_.linear.tolerance, 1e-11);
    LbfgsResult run = minimise_part(part(0), start, tolerance);
    int iterations = run.iterations;
    if (strength > 0) {
      for (const double share : {0.01, 0.1, 1.0}) {
        run = minimise_part(part(share * strength), run.point.theta, tolerance);
        iterations += run.iterations;
      }
    }
    if (problem_.risk == RobustRisk::irm) {
      LbfgsResult other = minimise_part(part(strength), start, tolerance);
      iterations += other.iterations;
      if (problem_.from_zero || other.point.risk < run.point.risk) run = std::move(other);
    }
    return fit_of(run, iterations);
  }

  /// Losses of units and the gradient of a mixture of them.
  struct UnitLosses {
    MixtureSet set;
    std::function<Vector(const Matrix& theta)> losses;
    std::function<Matrix(const Matrix& theta, const Vector& mass)> gradient;
  };

  /// min_theta max_q <q, losses> + penalty by the method of multipliers: in each round the mixture is held near the
  /// last one, which makes a smooth convex problem. At its optimum theta is also the best one for the mixture, so both
  /// bounds are at hand.
  RobustFit worst_of(const UnitLosses& units, const Matrix& start, Vector& r) const {
    const MixtureSet& set = units.set;
    r = Vector::Ones(set.share.size());
    Matrix theta = start;
    const double first = units.losses(theta).cwiseAbs().mean();
    if (!std::isfinite(first)) refuse_overflow(problem_);
    const double unit = first > 0 ? first : 1;
    double mu = 0.3 * unit;
    LbfgsResult run;
    RobustFit result;
    int iterations = 0;
    double best = std::numeric_limits<double>::infinity();
    bool found = false;
    for (int round = 0; round < 60 && !found; ++round, mu = std::max(0.5 * mu, 1e-3 * unit)) {
      const Vector centre = r;
      const SmoothPart part = [&](const Matrix& point, Matrix& gradient) {
        const Vector losses = units.losses(point);
        const Vector own = nearest_mixture(set, losses, centre, mu);
        gradient += units.gradient(point, Vector(set.share.cwiseProduct(own)));
        return set.share.dot(Vector(own.array() * losses.array() - 0.5 * mu * (own - centre).array().square()));
      };
      run = minimise_part(part, theta, 1e-10);
      theta = run.point.theta;
      iterations += run.iterations;
      const Vector losses = units.losses(theta);
      r = nearest_mixture(set, losses, centre, mu);
      const double penalty = (penalty_.asDiagonal() * theta).cwiseProduct(theta).sum();
      const double upper = set.share.dot(Vector(worst_mixture(set, losses).cwiseProduct(losses))) + penalty;
      const double lower = set.share.dot(Vector(r.cwiseProduct(losses))) + penalty;
      if (round == 0 || upper < best || std::isnan(best)) {
        best = upper;
        result = fit_of(run, iterations);
        result.fit.risk = upper;
      }
      // The mixture's value bounds the risk from below only where theta is its minimum.
      if (run.converged || run.point.gradient.cwiseAbs().maxCoeff() <= solved_gradient * scale_)
        result.lower = std::max(result.lower.value_or(lower), lower);
      found = result.lower && best - *result.lower <= bound_gap * std::max(std::abs(best), 1e-3 * unit);
    }
    result.fit.iterations = iterations;
    const double least = std::max(problem_.linear.tolerance, 1e-7);
    result.fit.converged = result.lower && best - *result.lower <= least * std::max(std::abs(best), 1e-3 * unit);
    return result;
  }

  RobustFit worst_domains(const Matrix& start) const {
    const auto count = static_cast<double>(rows_.count());
    const double cap = problem_.risk == RobustRisk::worst ? count : std::min(count, 1 / problem_.share);
    UnitLosses units{{Vector::Constant(rows_.count(), 1 / count), cap}, {}, {}};
    // Losses and gradients come from one pass, which both functions look at.
    auto last = std::make_shared<std::pair<Matrix, std::vector<DomainPoint>>>();
    const auto points = [this, last](const Matrix& theta) -> const std::vector<DomainPoint>& {
      if (last->second.empty() || last->first != theta)
        *last = {theta, rows_.at_point(theta, DomainExtra::none, context_)};
      return last->second;
    };
    units.losses = [this, points](const Matrix& theta) {
      Vector losses = losses_of(points(theta));
      if (problem_.subtracted.size() > 0)
        for (Index k = 0; k < rows_.count(); ++k) losses[k] -= problem_.subtracted[rows_.domain(k)];
      return losses;
    };
    units.gradient = [points](const Matrix& theta, const Vector& mass) {
      const std::vector<DomainPoint>& all = points(theta);
      Matrix gradient = Matrix::Zero(theta.rows(), theta.cols());
      for (std::size_t e = 0; e < all.size(); ++e) gradient += mass[static_cast<Index>(e)] * all[e].gradient;
      return gradient;
    };
    Vector r;
    RobustFit result = worst_of(units, start, r);
    result.mixture = by_domain(Vector(r / count));
    return result;
  }

  RobustFit worst_rows(const Matrix& start) const {
    const Vector weight = rows_.row_weight();
    UnitLosses units{{weight / weight.sum(), 1 / problem_.share}, {}, {}};
    units.losses = [this](const Matrix& theta) { return rows_.row_losses(theta, context_); };
    units.gradient = [this](const Matrix& theta, const Vector& mass) {
      return rows_.row_gradient(theta, mass, context_);
    };
    Vector r;
    return worst_of(units, start, r);
  }
};

}  // namespace

RobustFit fit_robust(const RobustProblem& problem, const Context& context) {
  prepare_blas();
  check_linear(problem.linear, context);
  RobustFit result = RobustSolver(problem, context).solve();
  const LinearFit& fit = result.fit;
  if (!std::isfinite(fit.risk) || !std::isfinite(fit.kkt) || !fit.weights.allFinite() || !fit.offset.allFinite())
    refuse_overflow(problem);
  return result;
}

}  // namespace ecotone
