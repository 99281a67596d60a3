// Barycentres of covariances: what they are, and that rounding does not keep them from an end.
#include "ecotone/solve/alignment/linear_maps.h"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "ecotone/base/random.h"

namespace ecotone::test {
namespace linear_maps_test {

const Context run({.threads = 2, .seed = 1});

Matrix normals(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed, "linear maps");
  Matrix x(rows, cols);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.normal();
  return x;
}

/// Four covariances of samples in which column 1 is column 0; the ridge is what `align` adds.
std::vector<Matrix> with_a_copy(Index rows, Index cols, double ridge) {
  std::vector<Matrix> found;
  for (std::uint64_t e = 1; e <= 4; ++e) {
    Matrix x = normals(rows, cols, e);
    for (Index j = 0; j < cols; ++j) x.col(j) *= 1 + 0.1 * static_cast<double>(j + static_cast<Index>(e));
    x.col(1) = x.col(0);
    found.emplace_back(x.transpose() * x / static_cast<double>(rows));
    found.back().diagonal().array() += ridge;
  }
  return found;
}

TEST(Barycentre, OfCommutingCovariancesIsTheSquareOfTheMeanRoot) {
  const Eigen::HouseholderQR<Matrix> qr(normals(5, 5, 9));
  const Matrix q = qr.householderQ() * Matrix::Identity(5, 5);
  Matrix values(2, 5);
  values << 4, 1, 0.25, 1e-3, 1e-6, 1, 9, 1, 4e-3, 1e-6;
  std::vector<Matrix> covariances;
  for (Index e = 0; e < 2; ++e) covariances.emplace_back(q * values.row(e).asDiagonal() * q.transpose());
  const Barycentre found = bures_barycentre(covariances, Vector::Constant(2, 0.5), run);
  EXPECT_TRUE(found.converged);
  const Vector wanted = values.cwiseSqrt().colwise().mean().array().square();
  EXPECT_LT((found.covariance - q * wanted.asDiagonal() * q.transpose()).norm(), 1e-9 * wanted.norm());
}

/// At a condition of 1e6, iterations change R by 1e-10 of itself for ever: they have converged all the same, and soon.
TEST(Barycentre, OfACopiedColumnConverges) {
  const Vector equal = Vector::Constant(4, 0.25);
  for (const Index cols : {3, 10, 40}) {
    const std::vector<Matrix> covariances = with_a_copy(5 * cols, cols, 1e-6);
    const Barycentre found = bures_barycentre(covariances, equal, run);
    EXPECT_TRUE(found.converged) << cols;
    EXPECT_LT(found.iterations, 100) << cols;
    EXPECT_LT(found.change, 1e-8) << cols;
    // R = sum w (R^1/2 C R^1/2)^1/2
    const Matrix root = matrix_roots(found.covariance, run).root;
    Matrix sum = Matrix::Zero(cols, cols);
    for (const Matrix& each : covariances) sum += 0.25 * matrix_roots(root * each * root, run).root;
    EXPECT_LT((sum - found.covariance).norm(), 1e-8 * found.covariance.norm()) << cols;
  }
}

/// Well-conditioned ones still come to the change of 1e-12.
TEST(Barycentre, IsExactWhereRoundingAllowsIt) {
  const Barycentre found = bures_barycentre(with_a_copy(50, 10, 0.1), Vector::Constant(4, 0.25), run);
  EXPECT_TRUE(found.converged);
  EXPECT_LT(found.change, 1e-12);
}

}  // namespace linear_maps_test
}  // namespace ecotone::test
