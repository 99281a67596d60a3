#include "ecotone/solve/linear/prox_newton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "ecotone/solve/linear/quadratic_model.h"

namespace ecotone {
namespace {

constexpr Index rows_per_column = 100;  // sampled rows per column of the Gram matrix at first

/// sign(x) max(|x| - threshold, 0)
double soft(double x, double threshold) { return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0.0; }

double absolute(const Matrix& theta, const Vector& l1) { return (l1.asDiagonal() * theta.cwiseAbs()).sum(); }

class ProxNewton {
 public:
  ProxNewton(const Standardised& design, const Loss& loss, const Vector& l1, const Vector& l2, const Context& context)
      : design_(design), loss_(loss), l1_(l1), l2_(l2), columns_(design), context_(context) {
    curvature_.resize(design.rows(), loss.curvature_size());
    stride_ = std::max<Index>(1, design.rows() / std::max<Index>(1, rows_per_column * design.size()));
  }

  /// Risk with both penalties and the gradient of the smooth part; `keep`: the curvature too.
  RiskPoint at(Matrix theta, bool keep) {
    auto [gradient, sums] = design_.sweep(theta, LossSums{}, context_, [&](Index first, MatrixView t, LossSums& acc) {
      Matrix none(t.rows(), 0);
      if (keep) {
        loss_.evaluate(first, t, curvature_.middleRows(first, t.rows()), acc);
      } else {
        loss_.evaluate(first, t, none, acc);
      }
    });
    if (keep) design_.share(curvature_, context_);
    RiskPoint point = penalised_point(std::move(theta), gradient, sums, l2_);
    point.risk += absolute(point.theta, l1_);
    return point;
  }

  /// theta + step minimises the quadratic models of all outputs, to this residual.
  Matrix step(const RiskPoint& point, double accuracy) {
    Matrix result = Matrix::Zero(point.theta.rows(), point.theta.cols());
    for (Index k = 0; k < point.theta.cols(); ++k) {
      const std::vector<Index> active = active_columns(point, k);
      if (active.empty()) continue;
      const Vector c = loss_.curvature_entry(0, curvature_, k, k);
      if (design_.is_sparse()) columns_.require(active, near_columns(point, k));
      const auto model =
          design_.is_sparse() ? column_model(columns_, active, c) : gram_model(design_, active, c, stride_, context_);
      descend(*model, active, point, k, accuracy, result);
    }
    return result;
  }

  /// Progress was poor: the next models use more rows.
  void see_more_rows() { stride_ = std::max<Index>(1, stride_ / 4); }
  bool sees_all_rows() const { return design_.is_sparse() || stride_ == 1; }

 private:
  std::vector<Index> active_columns(const RiskPoint& point, Index k) const {
    std::vector<Index> active;
    for (Index j = 0; j < design_.size(); ++j) {
      const bool flat = j < design_.scale().size() && design_.scale()[j] == 0;
      if (!flat && (point.theta(j, k) != 0 || std::abs(point.gradient(j, k)) > l1_[j])) active.push_back(j);
    }
    return active;
  }

  /// Columns that may become active soon.
  std::vector<Index> near_columns(const RiskPoint& point, Index k) const {
    std::vector<Index> near;
    for (Index j = 0; j < design_.scale().size(); ++j) {
      if (std::abs(point.gradient(j, k)) > 0.2 * l1_[j]) near.push_back(j);
    }
    return near;
  }

  /// Coordinate descent on g'd + d'H d/2 + sum_j l1_j |theta_j + d_j| + l2_j d_j^2. Coordinates that stay at zero by a
  /// clear margin are skipped until the others have settled.
  void descend(QuadraticModel& model, const std::vector<Index>& active, const RiskPoint& point, Index output,
               double accuracy, Matrix& result) const {
    std::vector<std::size_t> live(active.size());
    std::iota(live.begin(), live.end(), std::size_t{0});
    double spare = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < 1000; ++pass) {
      double largest = 0;
      const bool all = live.size() == active.size();
      std::vector<std::size_t> next;
      for (const std::size_t a : live) {
        const Index j = active[a];
        const auto k = static_cast<Index>(a);
        double& d = result(j, output);
        const double h = model.curvature(k) + 2.0 * l2_[j];
        if (!(h > 0)) continue;
        const double g = point.gradient(j, output) + model.slope(k) + 2.0 * l2_[j] * d;
        const double z = point.theta(j, output) + d;
        const double move = soft(h * z - g, l1_[j]) / h - z;
        if (move == 0 && z == 0 && std::abs(g) < l1_[j] - spare) continue;
        next.push_back(a);
        if (move == 0) continue;
        d += move;
        model.move(k, move);
        largest = std::max(largest, h * std::abs(move));
      }
      context_.check_cancelled();
      if (largest > accuracy) {
        live = std::move(next);
        spare = largest;
      } else if (all) {
        return;
      } else {
        live.resize(active.size());
        std::iota(live.begin(), live.end(), std::size_t{0});
        spare = std::numeric_limits<double>::infinity();
      }
    }
  }

  const Standardised& design_;
  const Loss& loss_;
  const Vector& l1_;
  const Vector& l2_;
  ColumnStore columns_;
  Context context_;
  Matrix curvature_;
  Index stride_ = 1;
};

}  // namespace

double kkt_residual(const Matrix& theta, const Matrix& gradient, const Vector& l1) {
  double largest = 0;
  for (Index j = 0; j < theta.rows(); ++j) {
    for (Index k = 0; k < theta.cols(); ++k) {
      const double g = gradient(j, k);
      const double distance = theta(j, k) > 0   ? std::abs(g + l1[j])
                              : theta(j, k) < 0 ? std::abs(g - l1[j])
                                                : std::max(std::abs(g) - l1[j], 0.0);
      if (!std::isfinite(distance)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, distance);
    }
  }
  return largest;
}

ProxNewtonResult minimise_prox_newton(const Standardised& design, const Loss& loss, const Vector& l1, const Vector& l2,
                                      Matrix start, const ProxNewtonOptions& options, const Context& context) {
  ProxNewton newton(design, loss, l1, l2, context);
  ProxNewtonResult result;
  RiskPoint& here = result.point;
  here = newton.at(std::move(start), true);
  const auto level_of = [&](const RiskPoint& point) {
    return kkt_residual(point.theta, point.gradient, l1) / options.scale;
  };
  double level = level_of(here);
  const double goal = std::max(options.tolerance, 4e-15);
  int idle = 0;
  for (int& iteration = result.iterations; iteration < options.max_iterations && level > goal; ++iteration) {
    const double accuracy = options.scale * level * std::clamp(std::sqrt(level), 1e-3, 0.1);
    const Matrix step = newton.step(here, accuracy);
    // Delta = g'd + l1'(|theta + d| - |theta|)
    const double decrease =
        here.gradient.cwiseProduct(step).sum() + absolute(here.theta + step, l1) - absolute(here.theta, l1);
    // Differences below this are rounding.
    const double noise = 1e-15 * (std::abs(here.risk) + absolute(here.theta, l1));
    if (!(decrease < noise)) {
      if (newton.sees_all_rows()) break;
      newton.see_more_rows();
      continue;
    }
    RiskPoint next;
    double length = 1;
    bool better = false;
    for (; length > 1e-10 && !better; length /= 2) {
      next = newton.at(here.theta + length * step, true);
      better = next.risk <= here.risk + 1e-4 * length * std::min(decrease, 0.0) + noise;
    }
    if (!better) {
      if (newton.sees_all_rows()) break;
      newton.see_more_rows();
      continue;
    }
    const double next_level = level_of(next);
    if (next_level > 0.3 * level || length < 0.4) newton.see_more_rows();
    idle = next_level < 0.9 * level ? 0 : idle + 1;
    const bool stalled = level <= accepted_level && idle >= 3;
    if (next_level <= level || level > accepted_level) {
      here = std::move(next);
      level = next_level;
    }
    if (stalled) break;
  }
  result.converged = level <= std::max(goal, accepted_level);
  return result;
}

}  // namespace ecotone
