#include "ecotone/measure/intervals.h"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace ecotone {

std::optional<double> mean_of(std::span<const double> values) {
  if (values.empty()) return {};
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> sample_sd(std::span<const double> values) {
  if (values.size() < 2) return {};
  const double mean = *mean_of(values);
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<double> standard_error(std::span<const double> values) {
  const auto sd = sample_sd(values);
  if (!sd) return {};
  return *sd / std::sqrt(static_cast<double>(values.size()));
}

double sorted_quantile(std::span<const double> sorted, double p) {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double share = place - static_cast<double>(below);
  if (share == 0) return sorted[below];
  return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

double t_quantile(double p, double freedom) { return boost::math::quantile(boost::math::students_t(freedom), p); }

double t_two_sided(double t, double freedom) {
  if (std::isinf(t)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), std::abs(t)));
}

double f_upper_tail(double f, double freedom, double freedom_below) {
  if (std::isinf(f)) return 0;
  return boost::math::cdf(boost::math::complement(boost::math::fisher_f(freedom, freedom_below), std::max(f, 0.0)));
}

std::optional<Interval> t_interval(std::span<const double> values) {
  const auto mean = mean_of(values);
  if (!mean) return {};
  const auto sd = sample_sd(values);
  if (!sd) return Interval{*mean, {}, {}};
  const auto n = static_cast<double>(values.size());
  const double half = t_quantile(0.975, n - 1) * *sd / std::sqrt(n);
  return Interval{*mean, *mean - half, *mean + half};
}

std::optional<double> t_test(std::span<const double> values) {
  const auto error = standard_error(values);
  if (!error) return {};
  const double mean = *mean_of(values);
  if (mean == 0) return 1;
  return t_two_sided(mean / *error, static_cast<double>(values.size()) - 1);
}

}  // namespace ecotone
