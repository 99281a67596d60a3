#include "ecotone/measure/ranks.h"

#include <gtest/gtest.h>

namespace ecotone {
namespace ranks_test {

TEST(Ranks, EqualValuesShareTheMeanRank) {
  EXPECT_EQ(ranks(std::vector<double>{3, 1, 3, 2}), (std::vector<double>{3.5, 1, 3.5, 2}));
  EXPECT_TRUE(ranks({}).empty());
}

TEST(Spearman, KnownValues) {
  const std::vector<double> up = {1, 2, 3, 4, 5};
  EXPECT_DOUBLE_EQ(*spearman(up, std::vector<double>{10, 20, 300, 301, 9000}), 1.0);
  EXPECT_DOUBLE_EQ(*spearman(up, std::vector<double>{5, 4, 3, 2, 1}), -1.0);
  // 1 - 6 sum d^2 / (n (n^2 - 1)) with d = 1, -1, 0, 1, -1
  EXPECT_DOUBLE_EQ(*spearman(up, std::vector<double>{2, 1, 3, 5, 4}), 1.0 - 6.0 * 4 / (5 * 24));
}

TEST(Spearman, UndefinedWithoutOrder) {
  EXPECT_FALSE(spearman(std::vector<double>{1}, std::vector<double>{2}));
  EXPECT_FALSE(spearman(std::vector<double>{1, 2}, std::vector<double>{2, 2}));
}

}  // namespace ranks_test
}  // namespace ecotone
