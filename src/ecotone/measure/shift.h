#pragma once

#include <optional>
#include <span>
#include <vector>

/// How far two samples of one number lie apart, and p-values of many such comparisons together.
namespace ecotone {

/// Mean and variance (n - 1) of the values that are there.
struct Moments {
  double count = 0;
  double mean = 0;
  double m2 = 0;  ///< sum of squared deviations from the mean

  double variance() const { return count < 2 ? 0 : m2 / (count - 1); }
  /// Both samples as one.
  Moments merged(const Moments& other) const;
};

/// (mean_a - mean_b) / sqrt((variance_a + variance_b) / 2). 0 for equal means; undefined when a sample has no value, or
/// when both are constant and differ.
std::optional<double> standardised_mean_difference(const Moments& a, const Moments& b);

struct KolmogorovSmirnov {
  double statistic = 0;  ///< largest distance of the two distribution functions
  double p = 1;  ///< two-sided; by the limit law at D (sqrt(n) + 0.12 + 0.11 / sqrt(n)), n = n_a n_b / (n_a + n_b)
};

/// The two-sample test. Both samples ascend and hold no NaN; one without values gives 0 and p = 1. Ties make p too
/// large, never too small.
KolmogorovSmirnov kolmogorov_smirnov(std::span<const double> a, std::span<const double> b);

/// P(K > x) of Kolmogorov's law.
double kolmogorov_tail(double x);

/// Benjamini and Hochberg's adjusted p-values, in the order given: rejecting those of at most q keeps the expected
/// share of false rejections below q.
std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace ecotone
