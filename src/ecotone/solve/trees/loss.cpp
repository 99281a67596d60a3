#include "ecotone/solve/trees/loss.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "ecotone/base/simd.h"
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

/// The weighted share of a class.
double share_of(const TreeLabels& labels, Index k) {
  return weighted_mean_of(labels, (labels.y.array() == static_cast<double>(k)).cast<double>());
}

/// Where the normal distribution function is p, and 1 less it q: both are given because one of them may round to 1.
/// Newton's steps come from one side: the function is concave above 0.
double normal_quantile(double p, double q) {
  const double tail = std::min(p, q);
  double m = 0;
  for (int step = 0; step < 100; ++step) {
    const double next = m + (0.5 * std::erfc(m * M_SQRT1_2) - tail) * std::sqrt(2 * M_PI) * std::exp(0.5 * m * m);
    if (next <= m) break;
    m = next;
  }
  return p < q ? -m : m;
}

/// 1 / (1 + exp(-score))
[[gnu::always_inline]] inline double logistic_of(double score) {
  const double e = exp_of(std::max(-std::abs(score), -708.0));
  return (score >= 0 ? 1 : e) / (1 + e);
}

/// Derivatives of the logistic loss. Nothing is fused, so the bytes are those of any processor.
[[gnu::always_inline]] inline void logistic_derivatives(const double* score, const double* y, Index count,
                                                        double* __restrict first, double* __restrict second) {
  for (Index i = 0; i < count; ++i) {
    const double p = logistic_of(score[i]);
    first[i] = p - y[i];
    second[i] = p * (1 - p);
  }
}
[[gnu::always_inline]] inline void weigh_all(const double* weight, Index count, double* __restrict first,
                                             double* __restrict second) {
  for (Index i = 0; i < count; ++i) {
    first[i] *= weight[i];
    second[i] *= weight[i];
  }
}

/// The softmax of one row.
Vector softmax_of(const Matrix& scores, Index i) {
  Vector p = scores.row(i).transpose();
  p = (p.array() - p.maxCoeff()).exp();
  return p / p.sum();
}

void softmax_derivatives(const TreeLabels& labels, const Matrix& scores, Index begin, Index count,
                         LossDerivatives& result) {
  const Index outputs = labels.outputs();
  const double factor = static_cast<double>(outputs) / static_cast<double>(std::max<Index>(outputs - 1, 1));
  for (Index i = begin; i < begin + count; ++i) {
    const Vector p = softmax_of(scores, i);
    for (Index k = 0; k < outputs; ++k) {
      result.first[at(k)][i] = p[k] - (labels.y[i] == static_cast<double>(k) ? 1 : 0);
      result.second[at(k)][i] = factor * p[k] * (1 - p[k]);
    }
  }
}

/// First and second derivative of the loss of a row with one score, but for the logistic loss.
std::pair<double, double> derivatives_at(const TreeLabels& labels, double f, double y) {
  switch (labels.loss) {
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

double cut_step(const TreeLabels& labels, double step) {
  constexpr double poisson_step = 0.7;
  return labels.loss == TreeLoss::poisson ? std::clamp(step, -poisson_step, poisson_step) : step;
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
    case TreeLoss::logistic:
      // ln p / (1 - p), which is finite even where p rounds to 1
      start[0] = std::log(share_of(labels, 1)) - std::log(share_of(labels, 0));
      break;
    case TreeLoss::probit:
      start[0] = normal_quantile(share_of(labels, 1), share_of(labels, 0));
      break;
    case TreeLoss::softmax:
      for (Index k = 0; k < labels.classes; ++k) start[k] = std::log(share_of(labels, k));
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

LossDerivatives derivatives_of(const TreeLabels& labels, const Matrix& scores, Share rows, const Context& context) {
  const Index n = labels.y.size(), outputs = labels.outputs();
  LossDerivatives result{std::vector<Vector>(at(outputs)), std::vector<Vector>(at(outputs))};
  for (Vector& each : result.first) each.resize(n);
  for (Vector& each : result.second) each.resize(n);
  context.parallel((rows.last - rows.first + derived_at_once - 1) / derived_at_once, [&](Index b) {
    const Index begin = rows.first + b * derived_at_once, count = std::min(derived_at_once, rows.last - begin);
    if (labels.loss == TreeLoss::softmax)
      softmax_derivatives(labels, scores, begin, count, result);
    else if (labels.loss == TreeLoss::logistic)
      run_wide_exactly<logistic_derivatives>(scores.data() + begin, labels.y.data() + begin, count,
                                             result.first[0].data() + begin, result.second[0].data() + begin);
    else
      for (Index i = begin; i < begin + count; ++i)
        std::tie(result.first[0][i], result.second[0][i]) = derivatives_at(labels, scores(i, 0), labels.y[i]);
    if (labels.weight.size() > 0)
      for (Index k = 0; k < outputs; ++k)
        run_wide_exactly<weigh_all>(labels.weight.data() + begin, count, result.first[at(k)].data() + begin,
                                    result.second[at(k)].data() + begin);
  });
  return result;
}

double mean_tree_loss(const TreeLabels& labels, const Matrix& scores) {
  Vector losses(labels.y.size());
  for (Index i = 0; i < losses.size(); ++i) losses[i] = tree_loss_at(labels, scores, i);
  return weighted_mean_of(labels, losses);
}

}  // namespace ecotone
