#include "ecotone/linalg/products.h"

#include <gtest/gtest.h>

#include "ecotone/linalg/blas.h"
#include "linalg/support.h"

namespace ecotone {
namespace products_test {

double gap(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

TEST(Products, AreTheProducts) {
  prepare_blas();
  const Context context = with_threads(2);
  for (const Index cols : {1, 7, 300}) {
    const Matrix a = random_matrix(700, cols, 1);
    const Matrix b = random_matrix(cols, 33, 2);
    const Matrix c = random_matrix(700, 33, 3);
    EXPECT_LT(gap(product(a, b, context), a * b), 1e-12) << cols;
    EXPECT_LT(gap(transpose_product(a, c, context), a.transpose() * c), 1e-11) << cols;
    EXPECT_LT(gap(gram(a, context), a.transpose() * a), 1e-11) << cols;
  }
}

TEST(Products, OfAVectorAreTheProductsWhateverItsPlace) {
  for (const Index rows : {1, 3, 4, 514})
    for (const Index cols : {1, 3, 4, 15, 130}) {
      const Matrix wide = random_matrix(rows, cols + 5, 1), columns = random_matrix(std::max(rows, cols), 3, 2);
      const auto a = wide.middleCols(2, cols);
      // A column of its own, and one of several.
      const Matrix packed = columns.leftCols(1);
      for (const ConstMatrixView& b : {ConstMatrixView(packed), ConstMatrixView(columns.middleCols(1, 1))}) {
        Matrix c = random_matrix(rows, 2, 3), sum = random_matrix(cols, 1, 4);
        multiply(a, b.topRows(cols), c.leftCols(1));
        EXPECT_LT(gap(c.leftCols(1), a.lazyProduct(b.topRows(cols))), 1e-13) << rows << " x " << cols;
        EXPECT_EQ(c.col(1), random_matrix(rows, 2, 3).col(1));
        const Matrix expected = sum + a.transpose().lazyProduct(b.topRows(rows));
        add_transpose_product(a, b.topRows(rows), sum);
        EXPECT_LT(gap(sum, expected), 1e-12) << rows << " x " << cols;
      }
    }
}

TEST(Products, ManyColumnsAreTiledTheSame) {
  const Context context = with_threads(2);
  const Matrix a = random_matrix(20, 1500, 1);
  const Matrix b = random_matrix(20, 900, 2);
  EXPECT_LT(gap(transpose_product(a, b, context), a.transpose() * b), 1e-12);
  EXPECT_LT(gap(gram(a, context), a.transpose() * a), 1e-12);
}

TEST(Products, GramIsSymmetricToTheBit) {
  for (const Index cols : {65, 1400}) {
    const Matrix g = gram(random_matrix(64, cols), with_threads(2));
    EXPECT_TRUE(same_bytes(g, Matrix(g.transpose())));
  }
}

TEST(Products, TakeBlocksOfLargerMatrices) {
  const Matrix a = random_matrix(50, 40);
  const Matrix part = a.block(3, 5, 20, 11);
  const Context context = with_threads(1);
  EXPECT_TRUE(same_bytes(gram(a.block(3, 5, 20, 11), context), gram(part, context)));
  EXPECT_TRUE(same_bytes(product(a.block(3, 5, 20, 11), a.block(0, 0, 11, 9), context),
                         product(part, Matrix(a.block(0, 0, 11, 9)), context)));
}

TEST(Products, AddTransposeProductAddsForOneColumnAndForMany) {
  const Matrix b = random_matrix(40, 17, 1);
  const Matrix wide = random_matrix(40, 6, 2);
  for (const Index cols : {1, 5}) {
    const auto a = wide.middleCols(1, cols);
    Matrix sum = random_matrix(cols, 17, 3);
    const Matrix expected = sum + a.transpose() * b;
    add_transpose_product(a, b, sum);
    EXPECT_LT((sum - expected).cwiseAbs().maxCoeff(), 1e-12) << cols;
  }
  Matrix sum = Matrix::Ones(1, 3);
  add_transpose_product(Matrix(0, 1), Matrix(0, 3), sum);
  EXPECT_EQ(sum, Matrix::Ones(1, 3));
}

TEST(Products, EmptySumsAreZero) {
  const Context context = with_threads(2);
  EXPECT_EQ(product(Matrix(3, 0), Matrix(0, 2), context), Matrix::Zero(3, 2));
  EXPECT_EQ(transpose_product(Matrix(0, 3), Matrix(0, 2), context), Matrix::Zero(3, 2));
  EXPECT_EQ(gram(Matrix(0, 4), context), Matrix::Zero(4, 4));
  EXPECT_EQ(product(Matrix(0, 3), Matrix(3, 2), context).rows(), 0);
}

TEST(Products, SameBytesForAnyThreads) {
  const Matrix a = random_matrix(12000, 23, 1);
  const Matrix b = random_matrix(12000, 9, 2);
  const Matrix c = random_matrix(23, 40, 3);
  const Matrix wide = random_matrix(100, 1300, 4);
  const Context one = with_threads(1);
  for (const int threads : {2, 7}) {
    const Context many = with_threads(threads);
    EXPECT_TRUE(same_bytes(product(a, c, one), product(a, c, many)));
    EXPECT_TRUE(same_bytes(transpose_product(a, b, one), transpose_product(a, b, many)));
    EXPECT_TRUE(same_bytes(gram(a, one), gram(a, many)));
    EXPECT_TRUE(same_bytes(gram(wide, one), gram(wide, many)));
  }
}

TEST(Products, ByTransposeScalesAndKeeps) {
  const Matrix a = random_matrix(5, 3, 1);
  const Matrix b = random_matrix(4, 3, 2);
  Matrix c = random_matrix(5, 4, 3);
  const Matrix expected = -2.0 * a * b.transpose() + 0.5 * c;
  product_by_transpose(-2.0, a, b, 0.5, c);
  EXPECT_LT((c - expected).cwiseAbs().maxCoeff(), 1e-14);
  // Without columns the product is zero.
  product_by_transpose(1.0, Matrix(5, 0), Matrix(4, 0), 1.0, c);
  EXPECT_LT((c - expected).cwiseAbs().maxCoeff(), 1e-14);
  product_by_transpose(1.0, Matrix(5, 0), Matrix(4, 0), 0.0, c);
  EXPECT_EQ(c, Matrix::Zero(5, 4));
}

}  // namespace products_test
}  // namespace ecotone
