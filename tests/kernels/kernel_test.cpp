#include "ecotone/kernels/kernel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/kernels/gram_operator.h"
#include "ecotone/kernels/pivoted_cholesky.h"
#include "linalg/support.h"

namespace ecotone {
namespace kernel_test {

const std::vector<Kernel>& all_kernels() {
  static const std::vector<Kernel> kernels{{.kind = KernelKind::rbf, .sigma = 1.7},
                                           {.kind = KernelKind::laplacian, .sigma = 2.5},
                                           {.kind = KernelKind::linear},
                                           {.kind = KernelKind::poly, .degree = 3, .coef0 = 0.5, .scale = 0.2}};
  return kernels;
}

double by_definition(const Kernel& kernel, const Eigen::RowVectorXd& x, const Eigen::RowVectorXd& z) {
  switch (kernel.kind) {
    case KernelKind::rbf:
      return std::exp(-(x - z).squaredNorm() / (2 * kernel.sigma * kernel.sigma));
    case KernelKind::laplacian:
      return std::exp(-(x - z).lpNorm<1>() / kernel.sigma);
    case KernelKind::linear:
      return x.dot(z);
    case KernelKind::poly:
      return std::pow(kernel.scale * x.dot(z) + kernel.coef0, kernel.degree);
  }
  return 0;
}

TEST(Kernel, GramIsTheDefinitionAndSymmetricToTheBit) {
  const Matrix x = random_matrix(300, 4), y = random_matrix(270, 4, 1);
  for (const Kernel& kernel : all_kernels()) {
    const Matrix k = kernel_gram(kernel, x, with_threads(2));
    const Matrix between = kernel_gram(kernel, x, y, with_threads(2));
    EXPECT_TRUE(same_bytes(k, Matrix(k.transpose()))) << kernel_name(kernel.kind);
    const Vector diagonal = kernel_diagonal(kernel, x);
    double worst = 0;
    for (Index i = 0; i < 300; ++i) {
      for (Index j = 0; j < 300; ++j)
        worst = std::max(worst, std::abs(k(i, j) - by_definition(kernel, x.row(i), x.row(j))));
      for (Index j = 0; j < 270; ++j)
        worst = std::max(worst, std::abs(between(i, j) - by_definition(kernel, x.row(i), y.row(j))));
      worst = std::max(worst, std::abs(diagonal[i] - by_definition(kernel, x.row(i), x.row(i))));
    }
    EXPECT_LT(worst, 1e-13 * k.cwiseAbs().maxCoeff()) << kernel_name(kernel.kind);
  }
}

TEST(Kernel, DistancesSurviveLargeOffsets) {
  // Multiples of 2^-20, so that adding the offset is exact.
  const Matrix x = (random_matrix(60, 3) * 1048576).array().round().matrix() / 1048576;
  const Matrix far = x.array() + 1048576;
  for (const Kernel& kernel : {all_kernels()[0], all_kernels()[1]}) {
    const Matrix gap = kernel_gram(kernel, x, with_threads(1)) - kernel_gram(kernel, far, with_threads(1));
    EXPECT_LT(gap.cwiseAbs().maxCoeff(), 1e-9) << kernel_name(kernel.kind);
  }
}

TEST(Kernel, RefusesParametersThatAreNoKernel) {
  const Matrix x = random_matrix(3, 2);
  const auto refused = [&](const Kernel& kernel) { EXPECT_THROW(kernel_gram(kernel, x, with_threads(1)), Error); };
  for (const double sigma : {0.0, -1.0, 1e-200, std::nan(""), 1.0 / 0.0})
    refused({.kind = KernelKind::rbf, .sigma = sigma});
  for (const double sigma : {0.0, -1.0, std::nan("")}) refused({.kind = KernelKind::laplacian, .sigma = sigma});
  refused({.kind = KernelKind::poly, .degree = 0});
  refused({.kind = KernelKind::poly, .coef0 = -1});
  refused({.kind = KernelKind::poly, .scale = 0});
}

TEST(Kernel, CentringIsHKH) {
  Matrix k = kernel_gram(all_kernels()[0], random_matrix(300, 3), with_threads(2));
  const Matrix h = Matrix::Identity(300, 300) - Matrix::Constant(300, 300, 1.0 / 300);
  const Matrix expected = h * k * h;
  const Vector columns = k.colwise().mean();
  const KernelMeans means = centre_gram(k, with_threads(2));
  EXPECT_LT((k - expected).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_LT((means.columns - columns).norm(), 1e-13);
  EXPECT_NEAR(means.all, columns.mean(), 1e-15);
  EXPECT_TRUE(same_bytes(k, Matrix(k.transpose())));
}

TEST(GramOperator, ProductsAreThoseOfTheMatrix) {
  const Matrix x = random_matrix(600, 3), b = random_matrix(600, 11, 1);
  const Context context = with_threads(2);
  for (const Kernel& kernel : all_kernels()) {
    const Matrix k = kernel_gram(kernel, x, context);
    const GramOperator kept(kernel, x, GramOperator::Tiles::kept, context);
    const GramOperator computed(kernel, x, GramOperator::Tiles::computed, context);
    const Matrix product = kept.multiply(b, context);
    EXPECT_LT((product - k * b).norm(), 1e-12 * k.norm() * b.norm()) << kernel_name(kernel.kind);
    EXPECT_TRUE(same_bytes(product, computed.multiply(b, context)));
    Matrix centred = k;
    const KernelMeans means = centre_gram(centred, context);
    const Matrix zero_sum = b.rowwise() - b.colwise().mean();
    EXPECT_LT((kept.multiply_centred(zero_sum, context) - centred * zero_sum).norm(), 1e-12 * k.norm() * b.norm());
    const Matrix lower = kept.centred_lower(means.columns, 0.5, context);
    centred.diagonal().array() += 0.5;
    EXPECT_LT((Matrix((lower - centred).triangularView<Eigen::Lower>())).cwiseAbs().maxCoeff(),
              1e-13 * k.cwiseAbs().maxCoeff());
  }
}

TEST(GramOperator, EqualBytesForAnyNumberOfThreads) {
  const Matrix x = random_matrix(900, 3), b = random_matrix(900, 9, 1);
  for (const auto tiles : {GramOperator::Tiles::kept, GramOperator::Tiles::computed}) {
    const Matrix one = GramOperator(all_kernels()[0], x, tiles, with_threads(1)).multiply(b, with_threads(1));
    for (const int threads : {2, 7}) {
      const Context context = with_threads(threads);
      EXPECT_TRUE(same_bytes(one, GramOperator(all_kernels()[0], x, tiles, context).multiply(b, context)));
    }
  }
}

TEST(PivotedCholesky, FactorTimesItsTransposeIsTheGramMatrix) {
  const Matrix x = random_matrix(400, 1);
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.kind == KernelKind::laplacian) continue;  // not of low rank
    const PivotedCholesky found = pivoted_cholesky(kernel, x, 1e-14, with_threads(2));
    const Matrix k = kernel_gram(kernel, x, with_threads(2));
    EXPECT_LT((found.factor * found.factor.transpose() - k).cwiseAbs().maxCoeff(), 1e-12 * k.cwiseAbs().maxCoeff());
    EXPECT_LE(found.residual, 1e-14);
    EXPECT_LT(found.factor.cols(), 60) << kernel_name(kernel.kind);
    EXPECT_EQ(found.factor.cols(), static_cast<Index>(found.pivots.size()));
  }
  EXPECT_EQ(pivoted_cholesky({.kind = KernelKind::linear}, x, 1e-14, with_threads(1)).factor.cols(), 1);
}

TEST(PivotedCholesky, StopsAtTheResidualAskedFor) {
  const Matrix x = random_matrix(500, 3);
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 1};
  const PivotedCholesky rough = pivoted_cholesky(kernel, x, 1e-2, with_threads(2));
  EXPECT_LE(rough.residual, 1e-2);
  const Matrix k = kernel_gram(kernel, x, with_threads(2));
  EXPECT_NEAR((k - rough.factor * rough.factor.transpose()).trace() / k.trace(), rough.residual, 1e-12);
  const PivotedCholesky seven = pivoted_cholesky(kernel, x, 1e-2, with_threads(7));
  EXPECT_TRUE(same_bytes(rough.factor, seven.factor));
  EXPECT_EQ(pivoted_cholesky(kernel, Matrix::Zero(5, 3), 1e-14, with_threads(1)).factor.cols(), 1);
}

}  // namespace kernel_test
}  // namespace ecotone
