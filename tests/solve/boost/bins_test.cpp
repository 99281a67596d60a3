// Boosting on bins beside boosting on numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "solve/boost/support.h"

namespace ecotone {
namespace boost_bins_test {

TEST(BoostBins, IsTheExactOneWhereValuesLieInTheMiddleOfBins) {
  // 256 values at the middles of the uniform bins between 0 and 1; both modes then see the same rows.
  Moons data;
  Random random(9, "test");
  const auto draw = [&] {
    Matrix x(400, 3);
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.cols(); ++j) x(i, j) = (static_cast<double>(random.below(256)) + 0.5) / 256;
    x.row(0).setZero();
    x.row(1).setOnes();
    return x;
  };
  data.source = draw();
  data.target = draw();
  for (Index i = 0; i < 400; ++i) data.y.push_back(data.source(i, 0) + data.source(i, 1) > 1 ? 1 : -1);
  std::vector<std::vector<StumpCandidate>> fixed;
  for (int n = 0; n < 150; ++n) {
    auto& list = fixed.emplace_back();
    for (int k = 0; k < 6; ++k)
      list.push_back({static_cast<Index>(random.below(3)), static_cast<double>(1 + random.below(255)) / 256});
  }
  BoostOptions options;
  options.search = BoostSearch::fixed;
  options.fixed = fixed;
  options.gamma = 0.21;
  // A constant, so that no other scale puts the middle of a bin at the edge of the band.
  options.scale = {StumpScaleKind::raw, 0.7};
  options.rows = BoostRowsKind::exact;
  const BoostFit exact = fit_boost(data.problem(), options, threads(1));
  options.rows = BoostRowsKind::binned;
  const BoostFit binned = fit_boost(data.problem(), options, threads(2));
  EXPECT_TRUE(binned.binned);
  EXPECT_FALSE(exact.binned);
  ASSERT_EQ(exact.rounds.size(), 150U);
  ASSERT_EQ(binned.rounds.size(), 150U);
  for (std::size_t n = 0; n < 150; ++n) {
    const BoostRound &e = exact.rounds[n], &b = binned.rounds[n];
    ASSERT_EQ(e.stump.theta, b.stump.theta) << n;
    // The two rows at the ends are not in the middle of their bins: nothing else may differ, and they by half a bin.
    EXPECT_NEAR(e.eps, b.eps, 2e-3) << n;
    EXPECT_NEAR(e.viol, b.viol, 2e-3) << n;
    EXPECT_NEAR(e.err_source, b.err_source, 5e-3) << n;
    EXPECT_NEAR(e.loss_target, b.loss_target, 5e-3) << n;
  }
}

TEST(BoostBins, MovesMassesByNoMoreThanOneBin) {
  const Moons data = normal(20'000, 2);
  BoostOptions options;
  options.rounds = 1;
  for (int run = 0; run < 20; ++run) {
    options.run = run;
    options.rows = BoostRowsKind::binned;
    const BoostFit binned = fit_boost(data.problem(), options, threads(2));
    ASSERT_EQ(binned.rounds.size(), 1U);
    const BoostRound& b = binned.rounds[0];
    // The same stump on the numbers: the source error is that of an edge, so equal; the band by a bin at either edge.
    const std::vector<std::vector<StumpCandidate>> fixed = {{{b.stump.attribute, b.stump.theta}}};
    BoostOptions same = options;
    same.rows = BoostRowsKind::exact;
    same.search = BoostSearch::fixed;
    same.fixed = fixed;
    const BoostFit exact = fit_boost(data.problem(), same, threads(1));
    ASSERT_EQ(exact.rounds.size(), 1U);
    EXPECT_NEAR(b.eps, exact.rounds[0].eps, 1e-12);
    const double bin =
        (std::max(data.source.col(b.stump.attribute).maxCoeff(), data.target.col(b.stump.attribute).maxCoeff()) -
         std::min(data.source.col(b.stump.attribute).minCoeff(), data.target.col(b.stump.attribute).minCoeff())) /
        256;
    Index near = 0;
    for (Index i = 0; i < data.target.rows(); ++i) {
      const double v = data.target(i, b.stump.attribute) - b.stump.theta;
      const double edge = options.gamma * (v > 0 ? b.stump.right : b.stump.left);
      near += std::abs(std::abs(v) - edge) <= bin ? 1 : 0;
    }
    EXPECT_LE(std::abs(b.viol - exact.rounds[0].viol), static_cast<double>(near) / 20'000 + 1e-12);
  }
}

}  // namespace boost_bins_test
}  // namespace ecotone
