#include "ecotone/linalg/tile_product.h"

#include <gtest/gtest.h>

#include "linalg/support.h"

namespace ecotone {
namespace tile_product_test {

TEST(TileProduct, AddsBothProductsOfATile) {
  const Matrix large = random_matrix(260, 300);
  for (const Index rows : {1, 2, 7, 8, 9, 256}) {
    for (const Index cols : {1, 5, 256}) {
      const auto a = large.block(2, 3, rows, cols);
      const Matrix right = random_matrix(cols, panel_cols, 1), left = random_matrix(rows, panel_cols, 2);
      const Matrix begin_down = random_matrix(rows, panel_cols, 3), begin_across = random_matrix(cols, panel_cols, 4);
      Matrix down = begin_down, across = begin_across;
      add_tile_products(a, right.data(), left.data(), down.data(), across.data());
      EXPECT_LT((down - begin_down - a * right).norm(), 1e-12 * a.norm() * right.norm()) << rows << " x " << cols;
      EXPECT_LT((across - begin_across - a.transpose() * left).norm(), 1e-12 * a.norm() * left.norm());
      Matrix alone = begin_down;
      add_tile_product(a, right.data(), alone.data());
      EXPECT_LT((alone - down).norm(), 1e-12 * a.norm() * right.norm());
    }
  }
}

}  // namespace tile_product_test
}  // namespace ecotone
