#pragma once

#include <optional>
#include <span>
#include <vector>

/// How far apart two samples of one variable are, and adjusted p-values for many such comparisons.
namespace ecotone {

/// Mean and variance (with n - 1) of the values that are not missing.
struct SampleMoments {
  double count = 0;
  double mean = 0;
  double m2 = 0;  ///< sum of squared deviations from the mean

  double variance() const { return count < 2 ? 0 : m2 / (count - 1); }
  /// The moments of both samples together.
  SampleMoments merged(const SampleMoments& other) const;
};

/// (mean_a - mean_b) / sqrt((variance_a + variance_b) / 2). 0 for equal means; undefined when a sample has no value, or
/// when both are constant and differ.
std::optional<double> standardised_mean_difference(const SampleMoments& a, const SampleMoments& b);

struct KolmogorovSmirnov {
  double statistic = 0;  ///< largest distance between the two distribution functions
  double p = 1;  ///< two-sided; from the limiting distribution at D (sqrt(n) + 0.12 + 0.11 / sqrt(n)), n = n_a n_b /
                 ///< (n_a + n_b)
};

/// The two-sample test. Both samples are sorted in ascending order and hold no NaN; an empty sample gives 0 and p = 1.
/// Ties make p too large, never too small.
KolmogorovSmirnov kolmogorov_smirnov(std::span<const double> a, std::span<const double> b);

/// P(K > x) for the Kolmogorov distribution.
double kolmogorov_tail(double x);

/// Adjusted p-values of Benjamini and Hochberg, in the order given: rejecting those of at most q keeps the expected
/// share of false rejections below q.
std::vector<double> benjamini_hochberg(std::span<const double> p);
/// Adjusted p-values of Holm, in the order given: rejecting those of at most q keeps the chance of any false rejection
/// below q.
std::vector<double> holm(std::span<const double> p);

}  // namespace ecotone
