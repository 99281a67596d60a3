#include "ecotone/solve/trees/loss.h"

#include <algorithm>
#include <cmath>

#include "ecotone/linalg/exponential.h"
#include "ecotone/solve/linear/loss.h"
#include "ecotone/solve/trees/bins.h"

namespace ecotone {

namespace {

constexpr Index derived_at_once = 1 << 13;

double weighted_mean_of(const TreeLabels& labels, const Vector& values) {
  double sum = 0, total = 0;
  for (Index i = 0; i < values.size(); ++i) {
    sum += labels.weight_of(i) * values[i];
    total += labels.weight_of(i);
  }
  return sum / total;
}

/// Where the normal distribution function is p, 0 < p < 1. Newton's steps come from one side: the function is concave
/// above 0.
double normal_quantile(double p) {
  const double tail = std::min(p, 1 - p);
  double m = 0;
  for (int step = 0; step < 100; ++step) {
    const double next = m + (0.5 * std::erfc(m * M_SQRT1_2) - tail) * std::sqrt(2 * M_PI) * std::exp(0.5 * m * m);
    if (next <= m) break;
    m = next;
  }
  return p < 0.5 ? -m : m;
}

/// 1 / (1 + exp(-score))
double logistic_of(double score) {
  const double e = exp_of(std::max(-std::abs(score), -708.0));
  return (score >= 0 ? 1 : e) / (1 + e);
}

/// The softmax of one row.
Vector softmax_of(const Matrix& scores, Index i) {
  Vector p = scores.row(i).transpose();
  p = (p.array() - p.maxCoeff()).exp();
  return p / p.sum();
}

/// First and second derivative of the loss of a row with one score.
std::pair<double, double> derivatives_at(const TreeLabels& labels, double f, double y) {
  switch (labels.loss) {
    case TreeLoss::logistic: {
      const double p = logistic_of(f);
      return {p - y, p * (1 - p)};
    }
    case TreeLoss::probit: {
      const double side = y > 0.5 ? 1 : -1;
      const ProbitTerms terms = probit_terms(side * f);
      return {-side * terms.ratio, terms.ratio * terms.ratio_plus_m};
    }
    case TreeLoss::poisson: {
      const double rate = std::exp(f);
      return {rate - y, rate};
    }
    case TreeLoss::absolute:
    case TreeLoss::quantile:
      return {y > f ? -labels.level() : y < f ? 1 - labels.level() : 0, 1};
    default:
      return {f - y, 1};
  }
}

}  // namespace

double tree_loss_at(const TreeLabels& labels, const Matrix& scores, Index i) {
  const double f = scores(i, 0), y = labels.y[i];
  switch (labels.loss) {
    case TreeLoss::logistic: {
      const double margin = y > 0.5 ? f : -f;
      return margin > 0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
    }
    case TreeLoss::probit:
      return probit_terms(y > 0.5 ? f : -f).loss;
    case TreeLoss::softmax: {
      const double most = scores.row(i).maxCoeff();
      return most + std::log((scores.row(i).array() - most).exp().sum()) - scores(i, static_cast<Index>(y));
    }
    case TreeLoss::poisson:
      return std::exp(f) - y * f;
    case TreeLoss::absolute:
    case TreeLoss::quantile:
      return y > f ? labels.level() * (y - f) : (1 - labels.level()) * (f - y);
    default:
      return (f - y) * (f - y);
  }
}

double weighted_quantile(std::vector<std::pair<double, std::uint64_t>> values, double level) {
  std::sort(values.begin(), values.end());
  std::uint64_t total = 0, below = 0;
  for (const auto& one : values) total += one.second;
  for (const auto& one : values) {
    below += one.second;
    if (static_cast<double>(below) >= level * static_cast<double>(total)) return one.first;
  }
  return values.empty() ? 0 : values.back().first;
}

Vector start_scores(const TreeLabels& labels) {
  Vector start(labels.outputs());
  switch (labels.loss) {
    case TreeLoss::logistic: {
      const double p = weighted_mean_of(labels, labels.y);
      start[0] = std::log(p / (1 - p));
      break;
    }
    case TreeLoss::probit:
      start[0] = normal_quantile(weighted_mean_of(labels, labels.y));
      break;
    case TreeLoss::softmax:
      for (Index k = 0; k < labels.classes; ++k) {
        const Vector of_class = (labels.y.array() == static_cast<double>(k)).cast<double>();
        start[k] = std::log(weighted_mean_of(labels, of_class));
      }
      break;
    case TreeLoss::squared:
      start[0] = weighted_mean_of(labels, labels.y);
      break;
    case TreeLoss::poisson:
      start[0] = std::log(weighted_mean_of(labels, labels.y));
      break;
    case TreeLoss::absolute:
    case TreeLoss::quantile: {
      const std::vector<std::uint32_t> weight = integer_weights(labels.weight, labels.y.size());
      std::vector<std::pair<double, std::uint64_t>> values;
      for (Index i = 0; i < labels.y.size(); ++i) values.emplace_back(labels.y[i], weight[at(i)]);
      start[0] = weighted_quantile(std::move(values), labels.level());
      break;
    }
  }
  return start;
}

LossDerivatives derivatives_of(const TreeLabels& labels, const Matrix& scores, const Context& context) {
  const Index n = labels.y.size(), outputs = labels.outputs();
  LossDerivatives result{std::vector<Vector>(at(outputs), Vector(n)), std::vector<Vector>(at(outputs), Vector(n))};
  const double factor = static_cast<double>(outputs) / static_cast<double>(std::max<Index>(outputs - 1, 1));
  const auto set = [&](Index i, Index k, double g, double h) {
    result.first[at(k)][i] = labels.weight_of(i) * g;
    result.second[at(k)][i] = labels.weight_of(i) * h;
  };
  context.parallel((n + derived_at_once - 1) / derived_at_once, [&](Index b) {
    for (Index i = b * derived_at_once; i < std::min(n, (b + 1) * derived_at_once); ++i) {
      if (labels.loss == TreeLoss::softmax) {
        const Vector p = softmax_of(scores, i);
        for (Index k = 0; k < outputs; ++k)
          set(i, k, p[k] - (labels.y[i] == static_cast<double>(k) ? 1 : 0), factor * p[k] * (1 - p[k]));
      } else {
        const auto [g, h] = derivatives_at(labels, scores(i, 0), labels.y[i]);
        set(i, 0, g, h);
      }
    }
  });
  return result;
}

double mean_tree_loss(const TreeLabels& labels, const Matrix& scores) {
  Vector losses(labels.y.size());
  for (Index i = 0; i < losses.size(); ++i) losses[i] = tree_loss_at(labels, scores, i);
  return weighted_mean_of(labels, losses);
}

}  // namespace ecotone
