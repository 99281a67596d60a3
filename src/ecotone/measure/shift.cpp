#include "ecotone/measure/shift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace ecotone {

namespace {

/// The positions of the values in ascending order, equal ones as given.
std::vector<std::size_t> ascending(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

}  // namespace

SampleMoments SampleMoments::merged(const SampleMoments& other) const {
  if (count == 0) return other;
  if (other.count == 0) return *this;
  // m2 = m2_a + m2_b + d^2 n_a n_b / n,  mean = mean_a + d n_b / n,  d = mean_b - mean_a
  const double n = count + other.count;
  const double d = other.mean - mean;
  return {n, mean + d * (other.count / n), m2 + other.m2 + d * d * (count * (other.count / n))};
}

std::optional<double> standardised_mean_difference(const SampleMoments& a, const SampleMoments& b) {
  if (a.count == 0 || b.count == 0) return {};
  if (a.mean == b.mean) return 0.0;
  const double deviation = std::sqrt((a.variance() + b.variance()) / 2);
  if (!(deviation > 0)) return {};
  return (a.mean - b.mean) / deviation;
}

double kolmogorov_tail(double x) {
  if (!(x > 0)) return 1;
  constexpr double pi = std::numbers::pi;
  double sum = 0;
  if (x < 1) {
    // 1 - sqrt(2 pi) / x sum_k exp(-(2 k - 1)^2 pi^2 / (8 x^2)): converges fast for small x
    for (int k = 1; k <= 20; ++k) sum += std::exp(-std::pow((2 * k - 1) * pi / x, 2) / 8);
    return std::clamp(1 - std::sqrt(2 * pi) / x * sum, 0.0, 1.0);
  }
  // 2 sum_k (-1)^(k - 1) exp(-2 k^2 x^2)
  for (int k = 1; k <= 20; ++k) sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2.0 * k * k * x * x);
  return std::clamp(sum, 0.0, 1.0);
}

KolmogorovSmirnov kolmogorov_smirnov(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return {};
  const auto na = static_cast<double>(a.size());
  const auto nb = static_cast<double>(b.size());
  KolmogorovSmirnov result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    // Skips all values equal to the smaller one, in both samples.
    const double value = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= value) ++i;
    while (j < b.size() && b[j] <= value) ++j;
    result.statistic = std::max(result.statistic, std::abs(static_cast<double>(i) / na - static_cast<double>(j) / nb));
  }
  const double root = std::sqrt(na * nb / (na + nb));
  result.p = kolmogorov_tail(result.statistic * (root + 0.12 + 0.11 / root));
  return result;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> adjusted(p.size());
  double least = 1;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    least = std::min(least, p[i] * static_cast<double>(p.size()) / static_cast<double>(rank));
    adjusted[i] = least;
  }
  return adjusted;
}

std::vector<double> holm(std::span<const double> p) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < p.size(); ++rank) {
    // max over i <= rank of (n - i) p_(i), at most 1
    largest = std::max(largest, std::min(1.0, static_cast<double>(p.size() - rank) * p[order[rank]]));
    adjusted[order[rank]] = largest;
  }
  return adjusted;
}

}  // namespace ecotone
