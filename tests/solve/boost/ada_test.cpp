// Boosting without a target: AdaBoost with the best of all stumps.
#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/solve/boost/boost.h"

namespace ecotone {
namespace boost_ada_test {

struct Data {
  Matrix x;
  std::vector<double> y;
  BoostProblem problem() const { return {.source = Features::dense(x), .y = y}; }
};

/// Values on a grid, so that many are equal; labels with noise.
Data gridded(Index rows, Index cols, std::uint64_t values) {
  Data data;
  Random random(7, "test");
  data.x.resize(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) data.x(i, j) = static_cast<double>(random.below(values));
    const double score = data.x(i, 0) - data.x(i, 1) + 0.3 * static_cast<double>(values) * random.normal();
    data.y.push_back(score > 0 ? 1 : -1);
  }
  return data;
}

BoostFit fit(const Data& data, int rounds, BoostRowsKind kind) {
  BoostOptions options;
  options.rounds = rounds;
  options.search = BoostSearch::all;
  options.rows = kind;
  options.bins = BoostBins::quantile;
  return fit_boost(data.problem(), options, Context(Context::Settings{.threads = 2}));
}

/// Smallest weighted error over all stumps at the middles between values, either sign.
double best_error(const Data& data, const Vector& weight) {
  double best = 1;
  for (Index j = 0; j < data.x.cols(); ++j) {
    for (Index k = 0; k < data.x.rows(); ++k) {
      double wrong = 0;
      for (Index i = 0; i < data.x.rows(); ++i)
        wrong += (data.x(i, j) > data.x(k, j)) == (data.y[static_cast<std::size_t>(i)] > 0) ? 0 : weight[i];
      best = std::min({best, wrong, weight.sum() - wrong});
    }
  }
  return best;
}

TEST(AdaBoost, TakesTheBestOfAllStumpsInEveryRound) {
  const Data data = gridded(120, 4, 12);
  for (const BoostRowsKind kind : {BoostRowsKind::exact, BoostRowsKind::binned}) {
    const BoostFit all = fit(data, 40, kind);
    ASSERT_EQ(all.rounds.size(), 40U);
    Vector weight = Vector::Constant(120, 1.0 / 120);
    for (const BoostRound& round : all.rounds) {
      ASSERT_NEAR(round.eps, best_error(data, weight), 1e-9);
      for (Index i = 0; i < weight.size(); ++i)
        weight[i] *= std::exp(-round.alpha * data.y[static_cast<std::size_t>(i)] *
                              round.stump.side(data.x(i, round.stump.attribute)));
      weight /= weight.sum();
    }
    EXPECT_LT((weight - all.source_weight).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(AdaBoost, IsTheSameOnBinsWhereEveryValueHasItsOwn) {
  const Data data = gridded(500, 5, 40);
  const BoostFit exact = fit(data, 60, BoostRowsKind::exact), binned = fit(data, 60, BoostRowsKind::binned);
  ASSERT_EQ(exact.rounds.size(), binned.rounds.size());
  for (std::size_t n = 0; n < exact.rounds.size(); ++n) {
    ASSERT_EQ(exact.rounds[n].stump.attribute, binned.rounds[n].stump.attribute) << n;
    ASSERT_EQ(exact.rounds[n].stump.theta, binned.rounds[n].stump.theta) << n;
    EXPECT_NEAR(exact.rounds[n].alpha, binned.rounds[n].alpha, 1e-9) << n;
    EXPECT_NEAR(exact.rounds[n].err_source, binned.rounds[n].err_source, 1e-12) << n;
  }
}

TEST(AdaBoost, ErrorIsBelowTheProductOfTheNormalisers) {
  const BoostFit found = fit(gridded(300, 4, 50), 100, BoostRowsKind::exact);
  double log_product = 0;
  for (const BoostRound& round : found.rounds) {
    log_product += round.log_z;
    EXPECT_LE(round.err_source, std::exp(log_product) + 1e-9);
    EXPECT_EQ(round.beta, 0);
    EXPECT_EQ(round.log_w_source, 0);
  }
  EXPECT_LT(found.rounds.back().err_source, found.rounds.front().err_source);
}

TEST(AdaBoost, StopsAtAStumpWithoutErrors) {
  Data data = gridded(50, 3, 9);
  for (Index i = 0; i < 50; ++i) data.y[static_cast<std::size_t>(i)] = data.x(i, 1) > 4 ? 1 : -1;
  for (const BoostRowsKind kind : {BoostRowsKind::exact, BoostRowsKind::binned}) {
    const BoostFit found = fit(data, 40, kind);
    EXPECT_EQ(found.stop, BoostStop::perfect);
    ASSERT_EQ(found.rounds.size(), 1U);
    EXPECT_EQ(found.rounds[0].stump.attribute, 1);
    EXPECT_EQ(found.rounds[0].stump.theta, 4.5);
    EXPECT_EQ(found.rounds[0].err_source, 0);
  }
}

TEST(AdaBoost, KeepsAThresholdBetweenNeighbouringNumbers) {
  Data data;
  data.x.resize(2, 1);
  data.x << 1, std::nextafter(1.0, 2.0);
  data.y = {-1, 1};
  const BoostFit found = fit(data, 1, BoostRowsKind::exact);
  ASSERT_EQ(found.rounds.size(), 1U);
  EXPECT_EQ(found.rounds[0].eps, 0);
  EXPECT_LT(found.rounds[0].stump.theta, data.x(1, 0));
}

TEST(StumpVoteTest, IsTheSumOfItsStumps) {
  Random random(4, "test");
  std::vector<Stump> stumps;
  std::vector<double> weights;
  for (int n = 0; n < 60; ++n) {
    stumps.push_back({static_cast<Index>(random.below(3)), static_cast<double>(random.below(7)),
                      random.below(2) == 0 ? 1.0 : -1.0, 1, 1});
    weights.push_back(random.uniform());
  }
  Matrix x(700, 3);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < 3; ++j) x(i, j) = static_cast<double>(random.below(17)) / 2 - 0.5;
  const Vector found = StumpVote(stumps, weights).values(Features::dense(x), Context(Context::Settings{.threads = 2}));
  for (Index i = 0; i < x.rows(); ++i) {
    double sum = 0;
    for (std::size_t n = 0; n < stumps.size(); ++n) sum += weights[n] * stumps[n].side(x(i, stumps[n].attribute));
    EXPECT_NEAR(found[i], sum, 1e-12);
  }
}

}  // namespace boost_ada_test
}  // namespace ecotone
