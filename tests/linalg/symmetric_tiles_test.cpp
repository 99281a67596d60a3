#include "ecotone/linalg/symmetric_tiles.h"

#include <gtest/gtest.h>

#include "linalg/support.h"

namespace ecotone {
namespace symmetric_tiles_test {

TEST(SymmetricTiles, HoldAGramForSizesAroundTheTile) {
  for (const Index size : {1, 7, 511, 512, 513, 1100}) {
    const Matrix a = random_matrix(20, size);
    const Matrix gram = a.transpose() * a;
    SymmetricTiles<double> tiles(size);
    EXPECT_EQ(tiles.values().size() * sizeof(double), SymmetricTiles<double>::bytes(size));
    // In two parts, which add.
    for (Index pair = 0; pair < tiles.pairs(); ++pair) {
      tiles.add_gram(pair, a.data(), 8, size);
      tiles.add_gram(pair, a.data() + 8 * size, 12, size);
    }
    Vector column(size);
    for (const Index j : {Index{0}, size / 2, size - 1}) {
      tiles.column(j, 2.0, column.data());
      EXPECT_LT((column - 2 * gram.col(j)).cwiseAbs().maxCoeff(), 1e-11) << size << " " << j;
      EXPECT_NEAR(tiles.at(j, 0), gram(j, 0), 1e-12);
      EXPECT_NEAR(tiles.at(0, j), gram(j, 0), 1e-12);
    }
  }
}

TEST(SymmetricTiles, MergeAndAddAreSums) {
  SymmetricTiles<float> a(600), b(600);
  a.add(3, 599, 2.0F);
  b.add(3, 599, 0.5F);
  b.add(598, 599, 1.0F);
  a.merge(b);
  EXPECT_EQ(a.at(599, 3), 2.5);
  EXPECT_EQ(a.at(598, 599), 1.0);
  EXPECT_EQ(a.at(598, 598), 0.0);
}

TEST(SymmetricTiles, OfNothingIsEmpty) {
  const SymmetricTiles<double> none(0);
  EXPECT_EQ(none.pairs(), 0);
  EXPECT_EQ(none.values().size(), 0U);
  EXPECT_EQ(SymmetricTiles<double>::bytes(0), 0U);
}

}  // namespace symmetric_tiles_test
}  // namespace ecotone
