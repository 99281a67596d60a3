#include "ecotone/kernels/rbf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/kernels/bandwidth.h"
#include "linalg/support.h"

namespace ecotone {
namespace rbf_test {

Matrix directly(const Matrix& x, const Matrix& y, double sigma) {
  Matrix k(x.rows(), y.rows());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < y.rows(); ++j) k(i, j) = std::exp(-(x.row(i) - y.row(j)).squaredNorm() / (2 * sigma * sigma));
  return k;
}

TEST(Rbf, GramIsTheKernelOfAllPairs) {
  const Matrix x = random_matrix(600, 5, 1);
  const Matrix y = random_matrix(300, 5, 2);
  const Context context = with_threads(2);
  EXPECT_LT((rbf_gram(x, 1.7, context) - directly(x, x, 1.7)).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_LT((rbf_gram(x, y, 0.8, context) - directly(x, y, 0.8)).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Rbf, GramIsSymmetricToTheBitWithOnesOnTheDiagonal) {
  const Matrix k = rbf_gram(random_matrix(530, 3), 0.5, with_threads(2));
  EXPECT_TRUE(same_bytes(k, Matrix(k.transpose())));
  EXPECT_EQ((k.diagonal().array() - 1).abs().maxCoeff(), 0.0);
}

TEST(Rbf, SameBytesForAnyThreads) {
  const Matrix x = random_matrix(900, 4, 1);
  const Matrix y = random_matrix(700, 4, 2);
  const Context one = with_threads(1);
  for (const int threads : {2, 7}) {
    EXPECT_TRUE(same_bytes(rbf_gram(x, 1, one), rbf_gram(x, 1, with_threads(threads))));
    EXPECT_TRUE(same_bytes(rbf_gram(x, y, 1, one), rbf_gram(x, y, 1, with_threads(threads))));
  }
}

TEST(Rbf, RefusesABandwidthThatIsNone) {
  const Matrix x = random_matrix(4, 2);
  for (const double sigma : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(), 1e-200})
    EXPECT_THROW(rbf_gram(x, sigma, with_threads(1)), Error) << sigma;
}

TEST(Rbf, NoRowsAndNoColumns) {
  const Context context = with_threads(1);
  EXPECT_EQ(rbf_gram(Matrix(0, 3), 1, context).size(), 0);
  EXPECT_EQ(rbf_gram(Matrix(2, 0), 1, context), Matrix::Ones(2, 2));
  EXPECT_EQ(rbf_gram(Matrix(0, 3), random_matrix(4, 3), 1, context).cols(), 4);
}

TEST(LowerTiles, CoverOneTriangleOnce) {
  const Index n = 1300;
  const LowerTiles lower(n);
  Eigen::MatrixXi seen = Eigen::MatrixXi::Zero(n, n);
  for (Index t = 0; t < lower.count(); ++t) {
    const auto at = lower.at(t);
    seen.block(at.i, at.j, at.rows, at.cols).array() += 1;
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) ASSERT_EQ(seen(i, j), 1) << i << " " << j;
}

TEST(MedianBandwidth, IsTheMedianDistance) {
  Matrix x(4, 1);
  x << 0, 1, 3, 7;  // distances 1 2 3 4 6 7
  const Bandwidth found = median_bandwidth(x, with_threads(1));
  EXPECT_DOUBLE_EQ(found.sigma, 3.5);
  EXPECT_EQ(found.rows, 4);
  EXPECT_FALSE(found.fallback);
}

TEST(MedianBandwidth, OfManyRowsIsThatOfASeededSample) {
  const Matrix x = random_matrix(3000, 3);
  const Context context({.threads = 2, .seed = 5});
  const Bandwidth found = median_bandwidth(x, context);
  EXPECT_EQ(found.rows, 1000);
  EXPECT_NEAR(found.sigma, std::sqrt(2 * 2.366), 0.1);  // the median of chi^2 with 3 degrees is 2.366
  EXPECT_EQ(median_bandwidth(Features::dense(x), context).sigma, found.sigma);
  EXPECT_NE(median_bandwidth(x, Context({.threads = 2, .seed = 6})).sigma, found.sigma);
}

TEST(MedianBandwidth, FallsBackWhereMostRowsAreEqual) {
  Matrix x = Matrix::Zero(10, 2);
  x(9, 0) = 3;
  const Bandwidth some = median_bandwidth(x, with_threads(1));
  EXPECT_DOUBLE_EQ(some.sigma, 3);
  EXPECT_TRUE(some.fallback);
  EXPECT_EQ(median_bandwidth(Matrix(Matrix::Ones(5, 2)), with_threads(1)).sigma, 1);
  EXPECT_EQ(median_bandwidth(Matrix(Matrix::Ones(1, 2)), with_threads(1)).sigma, 1);
}

TEST(MedianBandwidth, OfTheLaplacianKernelIsTheMedianOfAbsoluteDifferences) {
  Matrix x(3, 2);
  x << 0, 0, 3, 4, -1, 8;
  // |x - z|_1 of the pairs: 7, 9, 8
  const Features rows = Features::dense(x);
  EXPECT_EQ(median_bandwidth(rows, KernelKind::laplacian, with_threads(2)).sigma, 8);
  EXPECT_EQ(median_bandwidth(rows, KernelKind::rbf, with_threads(2)).sigma,
            median_bandwidth(rows, with_threads(2)).sigma);
  const Features equal = Features::dense(Matrix(Matrix::Ones(5, 2)));
  EXPECT_EQ(median_bandwidth(equal, KernelKind::laplacian, with_threads(1)).sigma, 1);
}

}  // namespace rbf_test
}  // namespace ecotone
