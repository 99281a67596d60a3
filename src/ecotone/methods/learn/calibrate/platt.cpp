#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/methods/learn/calibrate/score_maps.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

double log_odds_of(double p) {
  p = std::clamp(p, 1e-15, 1 - 1e-15);
  return std::log(p) - std::log1p(-p);
}

namespace {

double finite(double value) { return std::clamp(value, -1e300, 1e300); }

}  // namespace

Vector versus_rest(ConstVectorView score) {
  if (score.size() == 1) return score;
  Index best = 0;
  const double top = score.maxCoeff(&best);
  double second = -std::numeric_limits<double>::infinity();
  for (Index k = 0; k < score.size(); ++k)
    if (k != best) second = std::max(second, score[k]);
  double others = 0;  // than the best, relative to the second
  double all = 0;     // relative to the best
  for (Index k = 0; k < score.size(); ++k) {
    if (k != best) others += std::exp(score[k] - second);
    all += std::exp(score[k] - top);
  }
  Vector result(score.size());
  for (Index k = 0; k < score.size(); ++k) {
    // Without k the sum still holds the best, which is 1, so that the difference keeps its digits.
    result[k] = finite(k == best ? score[k] - second - std::log(others)
                                 : score[k] - top - std::log(all - std::exp(score[k] - top)));
  }
  return result;
}

double PlattMap::log_odds(double score) const { return finite(slope * score + intercept); }

namespace {

/// ln(1 + exp z) without overflow.
double softplus(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }

/// The objective over standardised scores u: z = a u + b.
class PlattRisk {
 public:
  PlattRisk(Vector u, Vector target, ConstVectorView weight)
      : u_(std::move(u)), target_(std::move(target)), weight_(weight) {}

  double value(const Eigen::Vector2d& at) const {
    double sum = 0;
    for (Index i = 0; i < u_.size(); ++i) {
      const double z = at[0] * u_[i] + at[1];
      sum += weight_[i] * (softplus(z) - target_[i] * z);
    }
    return sum;
  }

  void derivatives(const Eigen::Vector2d& at, Eigen::Vector2d& gradient, Eigen::Matrix2d& hessian) const {
    gradient.setZero();
    hessian.setZero();
    for (Index i = 0; i < u_.size(); ++i) {
      const double z = at[0] * u_[i] + at[1];
      const double p = sigmoid(z);
      // g = sum w (p - t) (u, 1), H = sum w p (1 - p) (u, 1) (u, 1)'
      const Eigen::Vector2d row(u_[i], 1);
      gradient += weight_[i] * (p - target_[i]) * row;
      hessian += weight_[i] * p * sigmoid(-z) * row * row.transpose();
    }
  }

 private:
  Vector u_;
  Vector target_;
  ConstVectorView weight_;
};

/// Newton's step H^-1 g; a Hessian that is singular in double gets a small ridge.
Eigen::Vector2d newton_step(Eigen::Matrix2d h, const Eigen::Vector2d& g) {
  if (h(0, 0) * h(1, 1) - h(0, 1) * h(0, 1) <= 1e-14 * h(0, 0) * h(1, 1)) {
    h.diagonal().array() += 1e-10 * h.trace() + std::numeric_limits<double>::min();
  }
  const double determinant = h(0, 0) * h(1, 1) - h(0, 1) * h(0, 1);
  return {(h(1, 1) * g[0] - h(0, 1) * g[1]) / determinant, (h(0, 0) * g[1] - h(0, 1) * g[0]) / determinant};
}

/// Newton with backtracking from `at`; true when it reached the minimum.
bool minimise(const PlattRisk& risk, double total, Eigen::Vector2d& at) {
  Eigen::Vector2d gradient;
  Eigen::Matrix2d hessian;
  double value = risk.value(at);
  for (int iteration = 0; iteration < 100; ++iteration) {
    risk.derivatives(at, gradient, hessian);
    if (gradient.cwiseAbs().maxCoeff() <= 1e-14 * total) return true;
    const Eigen::Vector2d step = newton_step(hessian, gradient);
    const double slope = gradient.dot(step);
    if (!(slope > 0) || !step.allFinite()) return false;
    if (slope <= 1e-13 * std::abs(value)) {
      // The value no longer tells the difference, and a Newton step squares what is left.
      at -= step;
      return true;
    }
    double length = 1;
    double next = risk.value(at - step);
    while (!(next <= value - 1e-4 * length * slope) && length > 1e-12) {
      length /= 2;
      next = risk.value(at - length * step);
    }
    at -= length * step;
    value = next;
  }
  return false;
}

/// Centre and width of the scores, weighted; a width of 0 where they do not differ beyond rounding.
struct Spread {
  double centre = 0;
  double width = 0;
};

Spread spread_of(ConstVectorView score, ConstVectorView weight, double total) {
  const double size = score.cwiseAbs().maxCoeff();
  if (size < 1e-280) return {};
  Spread spread;
  for (Index i = 0; i < score.size(); ++i) spread.centre += weight[i] / total * (score[i] / size);
  double square = 0;
  for (Index i = 0; i < score.size(); ++i) {
    const double away = score[i] / size - spread.centre;
    square += weight[i] / total * away * away;
  }
  spread.width = std::sqrt(square) > 1e-13 ? std::sqrt(square) * size : 0;
  spread.centre *= size;
  return spread;
}

}  // namespace

PlattFit fit_platt(ConstVectorView score, ConstVectorView positive, ConstVectorView weight) {
  const double total = weight.sum();
  const double plus = weight.dot(positive);
  const double minus = total - plus;
  // t+ = (N+ + 1) / (N+ + 2), t- = 1 / (N- + 2). Weights below 1 on average are shares, not counts: as many rows as
  // there are stand behind them.
  const double rows = std::max(1.0, static_cast<double>((weight.array() > 0).count()) / total);
  const double high = (plus * rows + 1) / (plus * rows + 2);
  const double low = 1 / (minus * rows + 2);
  const double mean = (plus * high + minus * low) / total;
  const Spread spread = spread_of(score, weight, total);
  Eigen::Vector2d at(0, log_odds_of(mean));
  // Equal scores, or equal targets: the mean target is all there is to learn.
  if (spread.width == 0 || plus <= 0 || minus <= 0) return {{0, at[1]}, true};
  const Vector u = score.array() / spread.width - spread.centre / spread.width;
  const PlattRisk risk(u, low + positive.array() * (high - low), weight);
  const bool converged = minimise(risk, total, at);
  return {{at[0] / spread.width, at[1] - at[0] * (spread.centre / spread.width)}, converged};
}

}  // namespace ecotone
