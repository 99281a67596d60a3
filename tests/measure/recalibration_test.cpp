#include "ecotone/measure/recalibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/random.h"

namespace ecotone {
namespace recalibration_test {

double sigmoid(double s) { return 1 / (1 + std::exp(-s)); }

/// Rows whose true log odds are a + b times the stated ones.
struct Rows {
  std::vector<std::uint8_t> positive;
  std::vector<double> probability;

  Rows(int n, double a, double b) {
    Random random(3, "recalibration-test");
    for (int i = 0; i < n; ++i) {
      const double stated = 2 * random.normal();
      probability.push_back(sigmoid(stated));
      positive.push_back(random.uniform() < sigmoid(a + b * stated));
    }
  }
};

TEST(Recalibration, FindsHowProbabilitiesWereBent) {
  const Rows right(40000, 0, 1);
  EXPECT_NEAR(*Recalibration(right.positive, right.probability).slope(), 1, 0.03);
  EXPECT_NEAR(*Recalibration(right.positive, right.probability).intercept(), 0, 0.03);
  const Rows extreme(40000, 0, 0.5);
  EXPECT_NEAR(*Recalibration(extreme.positive, extreme.probability).slope(), 0.5, 0.02);
  const Rows low(40000, 0.7, 1);
  EXPECT_NEAR(*Recalibration(low.positive, low.probability).intercept(), 0.7, 0.03);
  const Rows reversed(40000, 0, -1);
  EXPECT_NEAR(*Recalibration(reversed.positive, reversed.probability).slope(), -1, 0.03);
}

TEST(Recalibration, InterceptMakesTheMeanRight) {
  const Rows rows(300, -1, 0.4);
  const double a = *Recalibration(rows.positive, rows.probability).intercept();
  double gap = 0;
  for (std::size_t i = 0; i < rows.positive.size(); ++i) {
    const double p = rows.probability[i];
    gap += rows.positive[i] - sigmoid(a + std::log(p / (1 - p)));
  }
  EXPECT_NEAR(gap, 0, 1e-7);
}

TEST(Recalibration, HasNoSlopeWhereNoneIsBest) {
  const auto slope = [](std::vector<std::uint8_t> positive, std::vector<double> p) {
    return Recalibration(positive, p).slope();
  };
  EXPECT_FALSE(slope({0, 0, 1, 1}, {0.1, 0.2, 0.6, 0.7}));  // separated
  EXPECT_FALSE(slope({1, 1, 0, 0}, {0.1, 0.2, 0.6, 0.7}));  // separated the wrong way round
  EXPECT_FALSE(slope({0, 0, 1, 1}, {0.1, 0.6, 0.6, 0.7}));  // but for one tie
  EXPECT_FALSE(slope({0, 1, 0, 1}, {0.4, 0.4, 0.4, 0.4}));  // one probability
  EXPECT_FALSE(slope({1, 1, 1}, {0.1, 0.2, 0.6}));          // one class
  EXPECT_FALSE(slope({0, 1}, {std::nan(""), 0.6}));
  EXPECT_TRUE(slope({0, 1, 0, 1}, {0.1, 0.2, 0.6, 0.7}));
  EXPECT_FALSE(Recalibration(std::vector<std::uint8_t>{1, 1}, std::vector{0.1, 0.2}).intercept());
  // ln 3: one half of the rows is positive, one quarter was expected.
  EXPECT_NEAR(*Recalibration(std::vector<std::uint8_t>{0, 1}, std::vector{0.25, 0.25}).intercept(), std::log(3.0),
              1e-9);
}

TEST(Recalibration, ClipsCertainty) {
  const std::vector<std::uint8_t> positive{0, 1, 1, 0, 1};
  const std::vector<double> p{0, 1, 0, 1, 0.6};
  const Recalibration fit(positive, p);
  ASSERT_TRUE(fit.slope());
  EXPECT_TRUE(std::isfinite(*fit.slope()));
  EXPECT_TRUE(std::isfinite(*fit.intercept()));
}

}  // namespace recalibration_test
}  // namespace ecotone
