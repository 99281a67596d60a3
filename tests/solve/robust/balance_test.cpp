#include "ecotone/solve/robust/balance.h"

#include "golden_json.h"

namespace ecotone::test {
namespace balance_test {

TEST(BalancedCells, EqualSumsAndTheSameTotal) {
  const std::vector<std::int32_t> cell = {0, 2, 0, 2, 2, 3};
  Vector weight(6);
  weight << 1, 2, 3, 0.5, 0.5, 0;
  const BalancedCells balanced = balanced_cells(cell, 4, weight);
  Vector sum = Vector::Zero(4);
  for (Index i = 0; i < 6; ++i) sum[cell[at(i)]] += weight[i] * balanced.factor[cell[at(i)]];
  EXPECT_DOUBLE_EQ(sum[0], 3.5);
  EXPECT_EQ(sum[1], 0);
  EXPECT_DOUBLE_EQ(sum[2], 3.5);
  EXPECT_EQ(balanced.factor[3], 0) << "a cell without weight gets none";
  EXPECT_EQ(balanced.rows[2], 3);
}

}  // namespace balance_test
}  // namespace ecotone::test
