#include "ecotone/linalg/stacked.h"

#include <gtest/gtest.h>

namespace ecotone {
namespace stacked_test {

TEST(Stacked, RowsOfTheFirstComeFirst) {
  Matrix a(1, 2), b(2, 2), expected(3, 2);
  a << 1, 2;
  b << 3, 4, 5, 6;
  expected << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(stacked(a, b), expected);
  EXPECT_EQ(stacked(Matrix(0, 2), b), b);
  EXPECT_THROW(stacked(a, Matrix(1, 3)), Error);
}

}  // namespace stacked_test
}  // namespace ecotone
