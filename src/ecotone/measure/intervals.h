#pragma once

#include <optional>
#include <span>

#include "ecotone/base/index.h"

namespace ecotone {

/// The ends of an interval.
struct Bounds {
  double low = 0;
  double high = 0;
  bool operator==(const Bounds&) const = default;
};

/// A mean with its 95% t interval.
struct Interval {
  double mean = 0;
  std::optional<double> low;  ///< empty with fewer than two values
  std::optional<double> high;
};

/// Mean; empty without values.
std::optional<double> mean_of(std::span<const double> values);
/// Standard deviation with n - 1; empty with fewer than two values.
std::optional<double> sample_sd(std::span<const double> values);
/// Standard error of the mean, sd / sqrt(n); empty with fewer than two values.
std::optional<double> standard_error(std::span<const double> values);
/// The p quantile of sorted values, between the two nearest in proportion; the values may be infinite.
double sorted_quantile(std::span<const double> sorted, double p);
/// The p quantile of Student's t distribution with `freedom` degrees of freedom, 0 < p < 1.
double t_quantile(double p, double freedom);
/// Probability that |T| exceeds |t| for Student's t; 0 for an infinite t.
double t_two_sided(double t, double freedom);
/// The chance that an F statistic with these degrees of freedom is larger; 0 for infinity.
double f_upper_tail(double f, double freedom, double freedom_below);
/// Mean of the values with the interval mean +- t(0.975, n - 1) sd / sqrt(n); empty without values. For paired
/// comparisons, pass the differences.
std::optional<Interval> t_interval(std::span<const double> values);
/// Two-sided p-value of Student's t test that the mean is 0; below 0.05 where the interval excludes 0. Values that are
/// all equal give 0, or 1 if they are 0; empty with fewer than two values.
std::optional<double> t_test(std::span<const double> values);

}  // namespace ecotone
