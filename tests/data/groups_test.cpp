#include "ecotone/data/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ecotone {
namespace groups_test {

using ::testing::ElementsAre;

TEST(Groups, AreSharedByTwoRows) {
  EXPECT_FALSE(share_groups({}));
  EXPECT_FALSE(share_groups(std::vector<std::int32_t>{-1, -1, 4, 2}));
  EXPECT_TRUE(share_groups(std::vector<std::int32_t>{-1, 4, 2, 4}));
  EXPECT_EQ(group_count(std::vector<std::int32_t>{-1, 4, 2, 4, -1}), 4);
}

TEST(Groups, GoWholeToFoldsOfEqualSizeAndEqualClasses) {
  std::vector<std::int32_t> group, stratum;
  for (std::int32_t g = 0; g < 30; ++g)
    for (int visit = 0; visit < 1 + g % 4; ++visit) {
      group.push_back(g);
      stratum.push_back(g % 3 == 0 ? 1 : 0);
    }
  for (int alone = 0; alone < 10; ++alone) {
    group.push_back(-1);
    stratum.push_back(alone % 2);
  }
  const std::vector<Index> fold = deal_groups(group, stratum, 5, Random(1, "test"));
  std::map<std::int32_t, std::set<Index>> folds_of;
  std::vector<int> rows(5, 0), ones(5, 0);
  for (std::size_t i = 0; i < fold.size(); ++i) {
    if (group[i] >= 0) folds_of[group[i]].insert(fold[i]);
    ++rows[static_cast<std::size_t>(fold[i])];
    ones[static_cast<std::size_t>(fold[i])] += stratum[i];
  }
  for (const auto& [g, folds] : folds_of) EXPECT_EQ(folds.size(), 1U) << g;
  EXPECT_LE(*std::ranges::max_element(rows) - *std::ranges::min_element(rows), 3);
  EXPECT_LE(*std::ranges::max_element(ones) - *std::ranges::min_element(ones), 3);
  EXPECT_EQ(fold, deal_groups(group, stratum, 5, Random(1, "test")));
  EXPECT_NE(fold, deal_groups(group, stratum, 5, Random(2, "test")));
}

TEST(Groups, FillEveryFoldWhereThereAreEnough) {
  const std::vector<std::int32_t> group{0, 0, 0, 0, 0, 0, 1, 2, -1}, stratum{0, 1, 2, 3, 0, 1, 4, 0, 5};
  const std::vector<Index> fold = deal_groups(group, stratum, 4, Random(3, "test"));
  EXPECT_EQ(std::set<Index>(fold.begin(), fold.end()).size(), 4U);
}

TEST(Groups, OfHeldRowsAreTakenOut) {
  const std::vector<std::int32_t> group{7, -1, 7, 3, -1, 3};
  const std::vector<Index> held{0, 1};
  EXPECT_THAT(without_groups_of(held, {2, 3, 4, 5}, group), ElementsAre(3, 4, 5));
  EXPECT_THAT(without_groups_of(held, {2, 3, 4, 5}, {}), ElementsAre(2, 3, 4, 5));
}

TEST(Groups, KeepTheDomainOfMostRows) {
  const std::vector<std::int32_t> group{7, 7, 7, 3, -1, 3, -1}, domain{0, 1, 1, 2, 0, 1, 1};
  EXPECT_THAT(in_one_domain_each(group, domain), ElementsAre(1, 2, 3, 4, 6));
}

TEST(Groups, AreDrawnWholeUntilThereAreEnoughRows) {
  const std::vector<std::int32_t> group = {-1, 4, 2, 4, -1, 2, 2, -1};
  const std::vector<Index> rows = {0, 1, 2, 3, 5, 6, 7};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed, "test");
    const std::vector<Index> drawn = draw_groups(rows, group, 3, random);
    const std::set<Index> in(drawn.begin(), drawn.end());
    EXPECT_TRUE(std::ranges::is_sorted(drawn));
    EXPECT_GE(in.size(), 3U);
    EXPECT_LE(in.size(), 5U);
    EXPECT_EQ(in.contains(1), in.contains(3));
    EXPECT_EQ(in.contains(2), in.contains(5));
    EXPECT_EQ(in.contains(2), in.contains(6));
    EXPECT_FALSE(in.contains(4));
  }
  Random random(1, "test");
  EXPECT_EQ(draw_groups(rows, {}, 4, random).size(), 4U);
  EXPECT_EQ(draw_groups(rows, group, 100, random), rows);
}

}  // namespace groups_test
}  // namespace ecotone
