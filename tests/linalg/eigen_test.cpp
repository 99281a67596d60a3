#include "ecotone/linalg/eigen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ecotone/base/error.h"
#include "linalg/support.h"

namespace ecotone {
namespace eigen_test {

void expect_eigenpairs(const Matrix& a, const Vector& values, const Matrix& vectors, double tolerance) {
  EXPECT_LT((a * vectors - vectors * values.asDiagonal()).norm(), tolerance * a.norm());
  EXPECT_LT((vectors.transpose() * vectors - Matrix::Identity(values.size(), values.size())).norm(), 1e-10);
  for (Index j = 1; j < values.size(); ++j) EXPECT_GE(values[j - 1], values[j]);
  for (Index j = 0; j < values.size(); ++j) {
    EXPECT_GT(vectors.col(j).maxCoeff(), (1 - 1e-7) * vectors.col(j).cwiseAbs().maxCoeff());
  }
}

Matrix random_symmetric(Index n) {
  const Matrix x = random_matrix(n, n);
  return x + x.transpose();
}

TEST(SymmetricEigen, SatisfiesItsEquation) {
  for (const Index n : {1, 2, 40, 300}) {
    const Matrix a = random_symmetric(n);
    const SymmetricEigen eigen = symmetric_eigen(a, with_threads(2));
    expect_eigenpairs(a, eigen.values, eigen.vectors, 1e-12);
  }
}

TEST(SymmetricEigen, KnownMatrix) {
  Matrix a(2, 2);
  a << 2, -1, -1, 2;
  const SymmetricEigen eigen = symmetric_eigen(a, with_threads(1));
  EXPECT_NEAR(eigen.values[0], 3, 1e-14);
  EXPECT_NEAR(eigen.values[1], 1, 1e-14);
  // The first of two equally large entries is positive, whatever LAPACK's sign.
  EXPECT_NEAR(eigen.vectors(0, 0), std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(eigen.vectors(1, 0), -std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(eigen.vectors(1, 1), std::sqrt(0.5), 1e-14);
}

TEST(SymmetricEigen, EmptyAndNotFinite) {
  EXPECT_EQ(symmetric_eigen(Matrix(0, 0), with_threads(1)).values.size(), 0);
  Matrix a = Matrix::Identity(3, 3);
  a(2, 1) = std::numeric_limits<double>::quiet_NaN();
  try {
    symmetric_eigen(a, with_threads(1));
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "non_finite");
  }
}

TEST(SymmetricEigen, SameBytesForAnyThreads) {
  const Matrix a = random_symmetric(400);
  const SymmetricEigen one = symmetric_eigen(a, with_threads(1));
  for (const int threads : {2, 7}) {
    const SymmetricEigen many = symmetric_eigen(a, with_threads(threads));
    EXPECT_TRUE(same_bytes(one.values, many.values));
    EXPECT_TRUE(same_bytes(one.vectors, many.vectors));
  }
}

TEST(LargestEigenpairs, AgreeWithTheDenseSolver) {
  const Matrix x = random_matrix(300, 300);
  Matrix a = x * x.transpose();
  const SymmetricOperator multiply = [&](ConstVectorView v, VectorView out) { out.noalias() = a * v; };
  const SymmetricEigen all = symmetric_eigen(a, with_threads(1));
  for (const Index k : {1, 5, 300}) {
    const LargestEigen top = largest_eigenpairs(multiply, 300, k, with_threads(1));
    EXPECT_TRUE(top.converged);
    expect_eigenpairs(a, top.values, top.vectors, 1e-10);
    EXPECT_LT((top.values - all.values.head(k)).cwiseAbs().maxCoeff(), 1e-9 * all.values[0]);
  }
}

TEST(LargestEigenpairs, TheStartIsFixed) {
  const Matrix a = random_symmetric(250);
  const SymmetricOperator multiply = [&](ConstVectorView v, VectorView out) { out.noalias() = a * v; };
  const LargestEigen first = largest_eigenpairs(multiply, 250, 3, with_threads(1));
  const LargestEigen second = largest_eigenpairs(multiply, 250, 3, with_threads(2));
  EXPECT_TRUE(same_bytes(first.values, second.values));
  EXPECT_TRUE(same_bytes(first.vectors, second.vectors));
}

TEST(LargestEigenpairs, IdentityAndZero) {
  for (const double scale : {1.0, 0.0}) {
    const SymmetricOperator multiply = [&](ConstVectorView v, VectorView out) { out = scale * v; };
    const LargestEigen top = largest_eigenpairs(multiply, 200, 4, with_threads(1));
    EXPECT_LT((top.values.array() - scale).abs().maxCoeff(), 1e-12);
    EXPECT_LT((top.vectors.transpose() * top.vectors - Matrix::Identity(4, 4)).norm(), 1e-10);
  }
}

}  // namespace eigen_test
}  // namespace ecotone
