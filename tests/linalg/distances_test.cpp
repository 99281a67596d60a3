#include "ecotone/linalg/distances.h"

#include <gtest/gtest.h>

#include "linalg/support.h"

namespace ecotone {
namespace distances_test {

Matrix directly(const Matrix& x, const Matrix& y) {
  Matrix d(x.rows(), y.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < y.rows(); ++j) d(i, j) = (x.row(i) - y.row(j)).squaredNorm();
  }
  return d;
}

double relative_gap(const Matrix& a, const Matrix& b) {
  return ((a - b).array().abs() / b.array().max(1e-300)).maxCoeff();
}

TEST(SquaredDistances, AreTheDistances) {
  const Matrix x = random_matrix(300, 11, 1);
  const Matrix y = random_matrix(270, 11, 2);
  EXPECT_LT(relative_gap(squared_distances(x, y, with_threads(2)), directly(x, y)), 1e-10);
}

TEST(SquaredDistances, SurviveALargeOffset) {
  // The offset itself rounds the rows; the distances are those of the rounded rows.
  const Matrix x = (random_matrix(60, 5, 1).array() + 1e8).matrix();
  const Matrix y = (random_matrix(50, 5, 2).array() + 1e8).matrix();
  EXPECT_LT(relative_gap(squared_distances(x, y, with_threads(2)), directly(x, y)), 1e-7);
}

TEST(SquaredDistances, EqualRowsAreAtZeroAndNearOnesKeepTheirDigits) {
  Matrix x = random_matrix(400, 20);
  x.row(7) = x.row(390);
  Matrix y = x;
  y.row(3).array() += 1e-9;
  const Matrix d = squared_distances(x, y, with_threads(2));
  EXPECT_EQ(d(7, 390), 0.0);
  EXPECT_EQ(d(12, 12), 0.0);
  EXPECT_NEAR(d(3, 3), 20e-18, 1e-23);
  EXPECT_GE(d.minCoeff(), 0.0);
}

TEST(SquaredDistances, WithItselfIsSymmetricWithZeroDiagonal) {
  const Matrix x = random_matrix(600, 9);
  const Matrix d = squared_distances(x, with_threads(2));
  EXPECT_TRUE(same_bytes(d, Matrix(d.transpose())));
  EXPECT_EQ(d.diagonal().cwiseAbs().maxCoeff(), 0.0);
  EXPECT_LT((d - squared_distances(x, x, with_threads(1))).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(SquaredDistances, OneRowNoRowsNoColumns) {
  const Context context = with_threads(2);
  EXPECT_EQ(squared_distances(Matrix(0, 3), random_matrix(4, 3), context).cols(), 4);
  EXPECT_EQ(squared_distances(Matrix(2, 0), Matrix(3, 0), context), Matrix::Zero(2, 3));
  EXPECT_EQ(squared_distances(random_matrix(1, 3), context), Matrix::Zero(1, 1));
}

TEST(SquaredDistances, SameBytesForAnyThreads) {
  const Matrix x = random_matrix(1000, 13, 1);
  const Matrix y = random_matrix(700, 13, 2);
  const Matrix one = squared_distances(x, y, with_threads(1));
  const Matrix self = squared_distances(x, with_threads(1));
  for (const int threads : {2, 7}) {
    EXPECT_TRUE(same_bytes(one, squared_distances(x, y, with_threads(threads))));
    EXPECT_TRUE(same_bytes(self, squared_distances(x, with_threads(threads))));
  }
}

TEST(SquaredDistances, FarRowsCostTheOthersNoDigits) {
  for (const double far : {1e4, 1e14, 1e20, 1e200}) {
    Matrix x = random_matrix(300, 5, 1), y = random_matrix(40, 5, 2);
    const Matrix expected = directly(x, y), among = directly(x, x);
    x.row(17).setConstant(far);
    y.row(3).setConstant(-far);
    Matrix between = squared_distances(x, y, with_threads(2)), self = squared_distances(x, with_threads(2));
    EXPECT_GT(between.row(17).minCoeff(), far);
    between.row(17) = expected.row(17);
    between.col(3) = expected.col(3);
    self.row(17) = among.row(17);
    self.col(17) = among.col(17);
    EXPECT_LT(relative_gap(between, expected), 1e-10) << far;
    EXPECT_LT(relative_gap(self, among), 1e-10) << far;
  }
}

}  // namespace distances_test
}  // namespace ecotone
