#include "ecotone/measure/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace ecotone {
namespace bootstrap_test {

TEST(ResampleCounts, AddUpAndFollowTheStream) {
  for (const Index units : {1, 2, 57}) {
    const auto counts = resample_counts(units, Random(1, "t", 5));
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0.0), static_cast<double>(units));
    EXPECT_EQ(counts, resample_counts(units, Random(1, "t", 5)));
  }
  EXPECT_NE(resample_counts(57, Random(1, "t", 5)), resample_counts(57, Random(1, "t", 6)));
}

TEST(PercentileBounds, AreQuantilesLinearBetweenNeighbours) {
  std::vector<double> values(41);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((7 * i) % 41);
  EXPECT_EQ(percentile_bounds(values, 20), (Bounds{1, 39}));
  EXPECT_DOUBLE_EQ(percentile_bounds(std::vector{0.0, 1.0}, 0.5)->low, 0.025);
}

TEST(PercentileBounds, ContainTheValue) {
  EXPECT_EQ(percentile_bounds(std::vector{2.0, 2.0, 2.0}, 1.0), (Bounds{1, 2}));
  EXPECT_EQ(percentile_bounds(std::vector{2.0, 2.0, 2.0}, 3.0), (Bounds{2, 3}));
}

TEST(PercentileBounds, NeedNineResamplesOfTen) {
  std::vector<double> values(20, 1.0);
  values[0] = values[1] = std::nan("");
  EXPECT_EQ(percentile_bounds(values, 1.0), (Bounds{1, 1}));
  values[2] = std::nan("");
  EXPECT_FALSE(percentile_bounds(values, 1.0));
  EXPECT_FALSE(percentile_bounds({}, 1.0));
}

TEST(PercentileBounds, CoverTheMeanOfNormalRows) {
  int covered = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Random random(trial, "bootstrap-test");
    std::vector<double> x(40);
    for (double& v : x) v = random.normal();
    std::vector<double> means;
    for (std::uint64_t r = 0; r < 300; ++r) {
      const auto counts = resample_counts(40, Random(trial, "resample", r));
      means.push_back(std::inner_product(x.begin(), x.end(), counts.begin(), 0.0) / 40);
    }
    const auto bounds = percentile_bounds(means, std::accumulate(x.begin(), x.end(), 0.0) / 40);
    covered += bounds->low < 0 && bounds->high > 0;
  }
  EXPECT_GT(covered, 175);  // of 200; 95% nominal
  EXPECT_LT(covered, 200);
}

}  // namespace bootstrap_test
}  // namespace ecotone
