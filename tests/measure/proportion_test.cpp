#include "ecotone/measure/proportion.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ecotone {
namespace {

double binomial(Index k, Index n, double p) {
  return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                  static_cast<double>(k) * std::log(p) + static_cast<double>(n - k) * std::log1p(-p));
}

TEST(MidPInterval, EndsAreWhereTheTestJustRejects) {
  for (const auto& [k, n] : {std::pair<Index, Index>{3, 10}, {17, 20}, {50, 200}}) {
    const ProportionInterval interval = mid_p_interval(k, n, 0.9);
    for (const auto& [p, wanted] : {std::pair{interval.low, 0.05}, {interval.high, 0.95}}) {
      double value = binomial(k, n, p) / 2;
      for (Index i = k + 1; i <= n; ++i) value += binomial(i, n, p);
      EXPECT_NEAR(value, wanted, 1e-9);
    }
  }
}

TEST(MidPInterval, IsSymmetricAndReachesTheEnds) {
  for (Index k = 0; k <= 12; ++k) {
    const ProportionInterval a = mid_p_interval(k, 12, 0.9);
    const ProportionInterval b = mid_p_interval(12 - k, 12, 0.9);
    EXPECT_NEAR(a.low, 1 - b.high, 1e-12);
    EXPECT_LE(a.low, static_cast<double>(k) / 12);
    EXPECT_GE(a.high, static_cast<double>(k) / 12);
  }
  EXPECT_EQ(mid_p_interval(0, 5, 0.9).low, 0);
  EXPECT_EQ(mid_p_interval(5, 5, 0.9).high, 1);
}

TEST(MidPInterval, CoversItsLevelOnAverage) {
  // Over probabilities from 0.5 to 0.95 and the numbers of audit rows that people have.
  double sum = 0;
  int cases = 0;
  for (const Index n : {10, 20, 30, 40}) {
    for (double p = 0.5; p < 0.96; p += 0.01) {
      double covered = 0;
      for (Index k = 0; k <= n; ++k) {
        const ProportionInterval interval = mid_p_interval(k, n, 0.9);
        if (interval.low <= p && p <= interval.high) covered += binomial(k, n, p);
      }
      EXPECT_GT(covered, 0.83) << n << " rows, p = " << p;
      sum += covered;
      ++cases;
    }
  }
  EXPECT_GT(sum / cases, 0.89);
  EXPECT_LT(sum / cases, 0.95);
}

}  // namespace
}  // namespace ecotone
