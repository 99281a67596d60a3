#include "ecotone/solve/ratios/density_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ecotone/base/error.h"
#include "ecotone/base/random.h"

namespace ecotone {
namespace density_ratio_test {

/// `sources` standard normal rows, then `targets` with another mean.
Features two_samples(Index sources, Index targets, double shift, std::uint64_t key = 0) {
  Random random(5, "test.two_samples", key);
  Matrix x(sources + targets, 3);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.normal();
  x.bottomRows(targets).array() += shift;
  return Features::dense(x);
}

Context threads(int n) { return Context({.threads = n}); }

TEST(DensityRatio, LogisticWeightsFollowTheTrueRatio) {
  // ln of two normals' ratio at h: shift * sum(h) - 3 shift^2 / 2.
  const Index n = 20000;
  const Features x = two_samples(n, n / 2, 0.5);
  const RatioFit fit = logistic_ratio(x, n, {}, threads(2));
  const Matrix rows = x.to_matrix().topRows(n);
  const Vector truth = 0.5 * rows.rowwise().sum().array() - 3 * 0.25 / 2;
  EXPECT_LT((fit.log_weight - truth).cwiseAbs().maxCoeff(), 0.25);
  // E_S alpha = 1
  EXPECT_NEAR(fit.log_weight.array().exp().mean(), 1, 0.03);
}

TEST(DensityRatio, SquaresSeeAChangeOfSpread) {
  const Index n = 5000;
  Matrix x = two_samples(n, n, 0).to_matrix();
  x.bottomRows(n) *= 0.5;
  const Features both = Features::dense(x);
  EXPECT_LT(separation(held_out_scores(both, n, {}, 5, threads(2)).value(), n), 0.55);
  EXPECT_GT(separation(held_out_scores(both, n, {.squares = true}, 5, threads(2)).value(), n), 0.75);
}

TEST(DensityRatio, HeldOutScoresOfOneLawCannotTell) {
  // In-sample scores of 40 rows and 3 features are above 1/2 nearly always; those of held-out rows are 1/2 on average.
  // A sample of 11 rows leaves 8 or 9 of them to a fit, so that offsets of folds differ.
  for (const Index targets : {Index{11}, Index{40}}) {
    double mean = 0;
    for (std::uint64_t key = 0; key < 200; ++key) {
      const Features x = two_samples(40, targets, 0, key);
      mean += separation(held_out_scores(x, 40, {}, 5, threads(1)).value(), 40) / 200;
    }
    EXPECT_NEAR(mean, 0.5, 0.025) << targets;
  }
}

TEST(DensityRatio, GroupsAreHeldOutWhole) {
  // Groups of near copies have a mean of their own: a classifier that knows a copy of a held-out row tells samples of
  // one law apart.
  const Index groups = 16, copies = 10, columns = 20;
  Random random(6, "test.copies");
  Matrix x(groups * copies, columns);
  std::vector<std::int32_t> group;
  for (Index g = 0; g < groups; ++g) {
    Vector mean(columns);
    for (double& value : mean) value = random.normal();
    for (Index c = 0; c < copies; ++c) {
      for (Index j = 0; j < columns; ++j) x(g * copies + c, j) = mean[j] + 0.05 * random.normal();
      group.push_back(static_cast<std::int32_t>(g));
    }
  }
  const Features both = Features::dense(x);
  const Index sources = groups * copies / 2;
  const auto blind = held_out_scores(both, sources, {}, 5, threads(2));
  const auto aware = held_out_scores(both, sources, {.group = group}, 5, threads(2));
  ASSERT_TRUE(aware.has_value());
  for (std::size_t i = 1; i < group.size(); ++i)
    if (group[i] == group[i - 1]) {
      EXPECT_EQ(aware->fold[i], aware->fold[i - 1]);
    }
  EXPECT_GT(separation(*blind, sources), 0.95);
  EXPECT_LT(separation(*aware, sources), 0.85);
  std::vector<std::int32_t> own(group.size());
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<std::int32_t>(i);
  EXPECT_EQ(held_out_scores(both, sources, {.group = own}, 5, threads(2))->score, blind->score);
  std::fill(group.begin(), group.begin() + sources, 0);  // one group is the whole sample
  EXPECT_FALSE(held_out_scores(both, sources, {.group = group}, 5, threads(2)).has_value());
}

TEST(DensityRatio, AreTheSameBytesForAnyNumberOfThreads) {
  const Features x = two_samples(9000, 3000, 0.3);
  const Vector one = held_out_scores(x, 9000, {}, 5, threads(1)).value().score;
  for (const int n : {2, 7}) {
    const Vector more = held_out_scores(x, 9000, {}, 5, threads(n)).value().score;
    EXPECT_EQ(std::memcmp(one.data(), more.data(), sizeof(double) * static_cast<std::size_t>(one.size())), 0);
  }
}

TEST(DensityRatio, OneTargetRowCannotBeHeldOutAndNoneIsRefused) {
  EXPECT_TRUE(logistic_ratio(two_samples(10, 1, 1), 10, {}, threads(1)).log_weight.allFinite());
  EXPECT_FALSE(held_out_scores(two_samples(10, 1, 1), 10, {}, 5, threads(1)));
  EXPECT_FALSE(held_out_scores(two_samples(1, 10, 1), 1, {}, 5, threads(1)));
  const auto two = held_out_scores(two_samples(10, 2, 1), 10, {}, 5, threads(1));
  ASSERT_TRUE(two);
  EXPECT_NE(two->fold[10], two->fold[11]);
  for (const Index sources : {Index{0}, Index{11}}) {
    try {
      logistic_ratio(two_samples(10, 1, 1), sources, {}, threads(1));
      ADD_FAILURE() << "accepted " << sources;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "empty_data");
    }
  }
}

}  // namespace density_ratio_test
}  // namespace ecotone
