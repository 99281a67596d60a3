#include "ecotone/linalg/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "linalg/support.h"

namespace ecotone {
namespace cholesky_test {

TEST(Cholesky, FactorTimesItsTransposeIsTheMatrix) {
  for (const Index n : {1, 2, 255, 256, 257, 700}) {
    const Matrix a = random_spd(n);
    const auto cholesky = Cholesky::factor(a, with_threads(2));
    ASSERT_TRUE(cholesky) << n;
    const Matrix& l = cholesky->lower();
    EXPECT_LT((l * l.transpose() - a).norm(), 1e-13 * a.norm()) << n;
    EXPECT_TRUE(l.isLowerTriangular(0.0));
  }
}

TEST(Cholesky, ReadsTheLowerTriangleOnly) {
  const Matrix a = random_spd(300);
  Matrix half = a;
  half.triangularView<Eigen::StrictlyUpper>().setConstant(std::numeric_limits<double>::quiet_NaN());
  const Context context = with_threads(2);
  EXPECT_TRUE(same_bytes(Cholesky::factor(a, context)->lower(), Cholesky::factor(half, context)->lower()));
}

TEST(Cholesky, SolvesVectorsAndMatrices) {
  const Context context = with_threads(2);
  for (const Index n : {1, 256, 600}) {
    const Matrix a = random_spd(n);
    const auto cholesky = Cholesky::factor(a, context);
    const Matrix b = random_matrix(n, 300, 5);
    EXPECT_LT((a * cholesky->solve(b, context) - b).norm(), 1e-12 * b.norm());
    const Vector v = b.col(0);
    EXPECT_LT((a * cholesky->solve(v, context) - v).norm(), 1e-12 * v.norm());
    EXPECT_LT((cholesky->lower() * cholesky->solve_lower(b, context) - b).norm(), 1e-12 * b.norm());
  }
}

TEST(Cholesky, LogDeterminantOfAKnownMatrix) {
  // Ones plus n on the diagonal: eigenvalues 2n and n (n - 1 times).
  const Index n = 400;
  Matrix a = Matrix::Ones(n, n);
  a.diagonal().array() += static_cast<double>(n);
  const double expected = std::log(2.0 * n) + (n - 1) * std::log(static_cast<double>(n));
  EXPECT_NEAR(Cholesky::factor(a, with_threads(2))->log_determinant(), expected, 1e-10 * expected);
}

TEST(Cholesky, NamesTheFailingPivot) {
  for (const Index bad : {0, 100, 300, 599}) {
    Matrix a = random_spd(600);
    a(bad, bad) = -1;
    Index pivot = -7;
    EXPECT_FALSE(Cholesky::factor(a, with_threads(2), &pivot));
    EXPECT_EQ(pivot, bad);
    a(bad, bad) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(Cholesky::factor(a, with_threads(2), &pivot));
    EXPECT_EQ(pivot, bad);
  }
}

TEST(Cholesky, EmptyMatrixHasDeterminantOne) {
  const auto cholesky = Cholesky::factor(Matrix(0, 0), with_threads(2));
  ASSERT_TRUE(cholesky);
  EXPECT_EQ(cholesky->log_determinant(), 0.0);
  EXPECT_EQ(cholesky->solve(Vector(0), with_threads(2)).size(), 0);
}

TEST(Cholesky, SameBytesForAnyThreads) {
  const Matrix a = random_spd(1000);
  const Matrix b = random_matrix(1000, 520, 3);
  const Vector v = b.col(1);
  const auto one = Cholesky::factor(a, with_threads(1));
  for (const int threads : {2, 7}) {
    const Context many = with_threads(threads);
    const auto other = Cholesky::factor(a, many);
    EXPECT_TRUE(same_bytes(one->lower(), other->lower()));
    EXPECT_TRUE(same_bytes(one->solve(b, with_threads(1)), other->solve(b, many)));
    EXPECT_TRUE(same_bytes(one->solve(v, with_threads(1)), other->solve(v, many)));
  }
}

}  // namespace cholesky_test
}  // namespace ecotone
