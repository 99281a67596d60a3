#include "ecotone/measure/intervals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace ecotone {
namespace intervals_test {

TEST(Intervals, QuantilesLieBetweenTheNearestValues) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> sorted = {1, 2, 4, inf};
  EXPECT_EQ(sorted_quantile(sorted, 0), 1);
  EXPECT_DOUBLE_EQ(sorted_quantile(sorted, 0.5), 3);
  EXPECT_EQ(sorted_quantile(sorted, 2.0 / 3), 4);
  EXPECT_EQ(sorted_quantile(sorted, 0.9), inf);
  EXPECT_EQ(sorted_quantile(sorted, 1), inf);
  EXPECT_EQ(sorted_quantile(std::vector<double>{5}, 0.3), 5);
}

TEST(TQuantile, PublishedTable) {
  // Two-sided 95 % points of Student's t.
  EXPECT_NEAR(t_quantile(0.975, 1), 12.7062047362, 1e-9);
  EXPECT_NEAR(t_quantile(0.975, 2), 4.3026527297, 1e-9);
  EXPECT_NEAR(t_quantile(0.975, 3), 3.1824463053, 1e-9);
  EXPECT_NEAR(t_quantile(0.975, 7), 2.3646242516, 1e-9);
  EXPECT_NEAR(t_quantile(0.975, 30), 2.0422724563, 1e-9);
  EXPECT_NEAR(t_quantile(0.975, 1e7), 1.9599642, 1e-6);  // the normal's
  EXPECT_NEAR(t_quantile(0.025, 5), -t_quantile(0.975, 5), 1e-12);
}

TEST(Summary, MeanAndSampleSd) {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(*mean_of(values), 5.0);
  EXPECT_DOUBLE_EQ(*sample_sd(values), std::sqrt(32.0 / 7));
  EXPECT_FALSE(mean_of({}));
  EXPECT_FALSE(sample_sd(std::vector<double>{1}));
}

TEST(TInterval, HandComputed) {
  // sd = 1, n = 3: 2 +- 4.30265 / sqrt(3)
  const auto interval = t_interval(std::vector<double>{1, 2, 3});
  EXPECT_DOUBLE_EQ(interval->mean, 2.0);
  EXPECT_NEAR(*interval->low, 2 - 2.4841377117, 1e-9);
  EXPECT_NEAR(*interval->high, 2 + 2.4841377117, 1e-9);
}

TEST(TInterval, ShiftsAndScalesWithTheValues) {
  const std::vector<double> values{0.3, -0.1, 0.4, 0.25, 0.0};
  std::vector<double> changed;
  for (const double v : values) changed.push_back(-2 * v + 1);
  const auto a = t_interval(values);
  const auto b = t_interval(changed);
  EXPECT_NEAR(*b->low, -2 * *a->high + 1, 1e-14);
  EXPECT_NEAR(*b->high, -2 * *a->low + 1, 1e-14);
}

TEST(TTwoSided, InvertsTheQuantile) {
  for (const double freedom : {1.0, 3.0, 40.0}) {
    for (const double p : {0.9, 0.975, 0.9999}) {
      const double t = t_quantile(p, freedom);
      EXPECT_NEAR(t_two_sided(t, freedom), 2 * (1 - p), 1e-9);
      EXPECT_NEAR(t_two_sided(-t, freedom), 2 * (1 - p), 1e-9);
    }
  }
  EXPECT_EQ(t_two_sided(0, 5), 1);
  EXPECT_EQ(t_two_sided(-std::numeric_limits<double>::infinity(), 5), 0);
}

TEST(TInterval, NoneForFewerThanTwo) {
  EXPECT_FALSE(t_interval({}));
  const auto one = t_interval(std::vector<double>{0.5});
  EXPECT_DOUBLE_EQ(one->mean, 0.5);
  EXPECT_FALSE(one->low);
  EXPECT_FALSE(one->high);
}

TEST(TInterval, EqualValuesGiveAPoint) {
  const auto interval = t_interval(std::vector<double>{0.25, 0.25, 0.25});
  EXPECT_DOUBLE_EQ(*interval->low, 0.25);
  EXPECT_DOUBLE_EQ(*interval->high, 0.25);
}

TEST(TTest, IsBelowFivePercentWhereTheIntervalExcludesZero) {
  const std::vector<double> values{0.2, 0.5, 0.1, 0.7};
  EXPECT_NEAR(*standard_error(values), std::sqrt(0.2275 / 3 / 4), 1e-15);
  EXPECT_NEAR(*t_test(values), 0.0723341713300311, 1e-12);  // scipy.stats.ttest_1samp
  for (const double shift : {-1.0, -0.4, 0.0, 0.05, 0.1, 0.5}) {
    std::vector<double> moved = values;
    for (double& value : moved) value += shift;
    const auto interval = t_interval(moved);
    EXPECT_EQ(*t_test(moved) < 0.05, *interval->low > 0 || *interval->high < 0) << shift;
  }
  EXPECT_EQ(*t_test(std::vector<double>{0, 0, 0}), 1);
  EXPECT_EQ(*t_test(std::vector<double>{0.5, 0.5}), 0);
  EXPECT_FALSE(t_test(std::vector<double>{0.5}));
  EXPECT_FALSE(standard_error(std::vector<double>{0.5}));
}

}  // namespace intervals_test
}  // namespace ecotone
