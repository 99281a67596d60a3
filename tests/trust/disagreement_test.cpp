#include "ecotone/trust/disagreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace ecotone::test {
namespace disagreement_test {

constexpr Index side_rows = 80;

/// Source rows, then as many of the target; column b is 0 and 1 in turn.
Dataset alternating() {
  Dataset data;
  Matrix x(2 * side_rows, 1);
  for (Index i = 0; i < x.rows(); ++i) x(i, 0) = static_cast<double>(i % 2);
  data.x = Features::dense(std::move(x), {"b"});
  data.schema = Schema{{{"b", ColumnKind::numeric, {}}}, "label", "site", ""};
  return data;
}

/// What is found when no source row loses anything, and target rows lose `low` where b is 0 and `high` where it is 1.
Explanation disagreement(RowLoss loss, double low, double high) {
  std::vector<Index> source(side_rows), target(side_rows);
  std::iota(source.begin(), source.end(), 0);
  std::iota(target.begin(), target.end(), side_rows);
  const Vector weight = Vector::Ones(side_rows);
  const Vector none = Vector::Zero(side_rows);
  Vector lost(side_rows);
  for (Index i = 0; i < side_rows; ++i) lost[i] = i % 2 == 0 ? low : high;
  Explanation result;
  result.loss = loss;
  find_disagreement(result, alternating(), {source, none, weight}, {target, lost, weight});
  return result;
}

TEST(Disagreement, RegionsThatAreAllRightOrAllWrongCount) {
  const Explanation found = disagreement(RowLoss::error, 0, 1);
  ASSERT_EQ(found.columns.size(), 1U);
  EXPECT_EQ(found.columns[0].column, "b");
  EXPECT_EQ(found.columns[0].freedom, 1);
  EXPECT_LT(found.columns[0].p_value, 1e-6);
  ASSERT_EQ(found.regions.size(), 2U);
  EXPECT_EQ(found.regions[0].words, "b above 0");
  // Of 40 rows on each side none was wrong, or all were: as half a row of 41.
  const double share = 0.5 / 41;
  for (const DisagreeingRegion& region : found.regions)
    EXPECT_NEAR(region.error, std::sqrt(2 * share * (1 - share) / 41), 1e-12) << region.words;
}

TEST(Disagreement, TheSameEverywhereVariesWithNothing) {
  const Explanation found = disagreement(RowLoss::error, 1, 1);
  ASSERT_EQ(found.columns.size(), 1U);
  EXPECT_NEAR(found.columns[0].spread, 0, 1e-12);
  EXPECT_NEAR(found.columns[0].p_value, 1, 1e-9);
}

TEST(Disagreement, EqualLossesOfOtherKindsCountOnAnyScale) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    const Explanation found = disagreement(RowLoss::squared, 0, scale);
    ASSERT_EQ(found.columns.size(), 1U) << scale;
    EXPECT_LT(found.columns[0].p_value, 1e-6) << scale;
    for (const DisagreeingRegion& region : found.regions)
      EXPECT_NEAR(region.error / scale, std::sqrt(2.0) / 40, 1e-12) << region.words;
  }
}

TEST(Disagreement, NoLossAtAllIsNoDisagreement) { EXPECT_TRUE(disagreement(RowLoss::squared, 0, 0).columns.empty()); }

}  // namespace disagreement_test
}  // namespace ecotone::test
