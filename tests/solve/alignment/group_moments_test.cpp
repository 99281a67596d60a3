// Moments of groups: the golden prior, merges, weights, and ranks of groups.
#include "ecotone/solve/alignment/group_moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ecotone/solve/alignment/group_ranks.h"
#include "golden_align.h"

namespace ecotone::test {
namespace group_moments_test {

const Context run({.threads = 2, .seed = 1});

Matrix rows_around(Index rows, Index cols, double offset) {
  Random random(5, "rows around");
  Matrix x(rows, cols);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = offset + random.normal();
  return x;
}

TEST(GroupMoments, GoldenPrior) {
  const Json inputs = golden_file("align", "01_scale_domain").at("inputs");
  const Domains domain = domains_named(inputs.at("domain"));
  const Features x = Features::dense(matrix_of(inputs.at("X")));
  for (const Json& each : align_tasks("01_scale_domain", "prior")) {
    AlignTask task(each);
    for (const ScatterKind kind : {ScatterKind::diagonal, ScatterKind::full}) {
      const MomentPrior prior =
          moment_prior(group_moments(x, domain.index, domain.count(), {}, kind, "test", run), "test");
      task.expect("m0", prior.mean);
      task.expect("v0", prior.variance);
      task.expect("tau2", prior.between);
      task.expect("kv", prior.kappa);
      if (kind == ScatterKind::full) {
        EXPECT_LT((prior.within.diagonal() - prior.variance).norm(), 1e-14);
      }
    }
  }
}

TEST(GroupMoments, AColumnOfOneValueInEveryGroupHasNoVariance) {
  Matrix x = rows_around(1501, 2, 0);
  std::vector<std::int32_t> group;
  for (Index i = 0; i < x.rows(); ++i) {
    group.push_back(static_cast<std::int32_t>(i % 3));
    x(i, 0) = i % 3 == 0 ? 0.1 : i % 3 == 1 ? 0.3 : 0.7;
  }
  for (const ScatterKind kind : {ScatterKind::diagonal, ScatterKind::full}) {
    const std::vector<GroupMoments> groups = group_moments(Features::dense(x), group, 3, {}, kind, "test", run);
    const MomentPrior prior = moment_prior(groups, "test");
    EXPECT_EQ(prior.variance[0], 0);
    EXPECT_GT(prior.variance[1], 0.5);
    EXPECT_GT(prior.between[0], 0.05);
    for (const GroupMoments& each : groups) EXPECT_EQ(shrunk_deviation(prior, each, std::nullopt)[0], 1);
    if (kind == ScatterKind::diagonal) continue;
    EXPECT_TRUE(prior.within.row(0).isZero(0));
    EXPECT_TRUE(prior.within.col(0).isZero(0));
    EXPECT_NEAR(prior.within(1, 1), prior.variance[1], 1e-14);
  }
}

/// What rounding leaves of a column of one value would be learned from.
TEST(GroupMoments, TheMeanOfEqualValuesIsThatValue) {
  const Index n = 5001;
  Matrix x = rows_around(n, 3, 0);
  const Vector values{{0.1, 1e9 + 0.1, -1.0 / 3}};
  std::vector<std::int32_t> group;
  Vector weight(n);
  for (Index i = 0; i < n; ++i) {
    group.push_back(static_cast<std::int32_t>(i % 3));
    x(i, 0) = values[i % 3];
    weight[i] = 0.3 + 0.1 * static_cast<double>(i % 7);
  }
  for (const Vector& weights : {Vector(), weight})
    for (const ScatterKind kind : {ScatterKind::diagonal, ScatterKind::full}) {
      const std::vector<GroupMoments> groups = group_moments(Features::dense(x), group, 3, weights, kind, "test", run);
      const MomentPrior prior = moment_prior(groups, "test");
      for (Index e = 0; e < 3; ++e) {
        const GroupMoments& own = groups[static_cast<std::size_t>(e)];
        EXPECT_EQ(own.mean[0], values[e]);
        EXPECT_EQ(own.squares()[0], 0);
        EXPECT_EQ(shrunk_mean(prior, own, std::nullopt)[0], values[e]);
        EXPECT_EQ(shrunk_mean(prior, own, 0)[0], values[e]);
      }
    }
}

TEST(GroupMoments, MergedAreThoseOfAllRows) {
  const Matrix x = rows_around(50, 3, 1e6);
  for (const ScatterKind kind : {ScatterKind::diagonal, ScatterKind::full}) {
    GroupMoments all(3, kind), first(3, kind), second(3, kind);
    all.add(x, Vector());
    first.add(x.topRows(13), Vector());
    second.add(x.bottomRows(37), Vector());
    first.merge(second);
    EXPECT_EQ(first.count, 50);
    EXPECT_LT((first.mean - all.mean).norm(), 1e-9);
    EXPECT_LT((first.scatter - all.scatter).norm(), 1e-8 * all.scatter.norm());
  }
}

TEST(GroupMoments, AWeightIsANumberOfRowsUpToScale) {
  const Matrix x = rows_around(6, 2, 0);
  Matrix twice(8, 2);
  twice << x, x.topRows(2);
  Vector weight(6);
  weight << 2, 2, 1, 1, 1, 1;
  GroupMoments weighted(2, ScatterKind::full), repeated(2, ScatterKind::full), scaled(2, ScatterKind::full);
  weighted.add(x, weight);
  scaled.add(x, 7 * weight);
  repeated.add(twice, Vector());
  EXPECT_LT((weighted.mean - repeated.mean).norm(), 1e-14);
  EXPECT_LT((weighted.scaled_scatter() - repeated.scatter * 6 / 8).norm(), 1e-13);
  EXPECT_LT((weighted.scaled_scatter() - scaled.scaled_scatter()).norm(), 1e-13);
  weight[5] = 0;
  GroupMoments left_out(2, ScatterKind::diagonal);
  left_out.add(x, weight);
  EXPECT_EQ(left_out.count, 5);
}

TEST(GroupRanks, ManyRowsAreKeptAsQuantiles) {
  const Index n = 20001;
  Matrix x(n, 1);
  for (Index i = 0; i < n; ++i) x(i, 0) = static_cast<double>((i * 7919) % n);
  const std::vector<std::int32_t> one(static_cast<std::size_t>(n), 0);
  const GroupRanks ranks = group_ranks(Features::dense(x), one, 1, "test", run)[0];
  EXPECT_FALSE(ranks.exact());
  EXPECT_EQ(ranks.sorted.cols(), GroupRanks::quantiles);
  for (const double value : {100.0, 5000.5, 19900.0})
    EXPECT_NEAR(ranks.share_below(0, value), (value + 0.5) / static_cast<double>(n), 1e-9);
  EXPECT_NEAR(ranks.share_below(0, -5), 0.5 / 1024, 1e-12);
}

}  // namespace group_moments_test
}  // namespace ecotone::test
