#include "ecotone/linalg/single.h"

#include <gtest/gtest.h>

#include "ecotone/base/error.h"
#include "ecotone/base/random.h"

namespace ecotone {
namespace single_test {

SingleMatrix noise(Index rows, Index cols, std::uint64_t block) {
  Random random(5, "single", block);
  SingleMatrix a(rows, cols);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = static_cast<float>(random.normal());
  return a;
}

/// The largest difference from the product in double precision.
double distance(const SingleMatrix& found, const Matrix& expected) {
  return (found.cast<double>() - expected).cwiseAbs().maxCoeff();
}

TEST(Single, ProductsAgreeWithDoublePrecisionAlsoInPartsOfMatrices) {
  const SingleMatrix a = noise(30, 50, 0);
  const SingleMatrix b = noise(50, 40, 1);
  const Matrix ab = a.middleCols(3, 20).cast<double>() * b.block(7, 5, 20, 11).cast<double>();
  SingleMatrix c = SingleMatrix::Constant(30, 20, -1);
  multiply(a.middleCols(3, 20), b.block(7, 5, 20, 11), c.middleCols(4, 11));
  EXPECT_LT(distance(c.middleCols(4, 11), ab), 1e-5);
  EXPECT_TRUE((c.leftCols(4).array() == -1).all() && (c.rightCols(5).array() == -1).all());

  const SingleMatrix bt = b.transpose();
  multiply_by_transpose(a.middleCols(3, 20), bt.block(5, 7, 11, 20), c.middleCols(4, 11));
  EXPECT_LT(distance(c.middleCols(4, 11), ab), 1e-5);

  const SingleMatrix at = a.transpose();
  SingleMatrix sum = noise(30, 11, 2);
  const Matrix expected = 0.5 * sum.cast<double>() - 2 * ab;
  add_transpose_product(at.middleRows(3, 20), b.block(7, 5, 20, 11), -2.0F, 0.5F, sum);
  EXPECT_LT(distance(sum, expected), 1e-4);
}

TEST(Single, SizesThatDoNotFitAreOurOwnBug) {
  const SingleMatrix a = noise(3, 4, 0);
  SingleMatrix c(3, 3);
  EXPECT_THROW(multiply(a, a, c), Error);
  EXPECT_THROW(multiply_by_transpose(a, SingleMatrix(3, 5), c), Error);
  EXPECT_THROW(add_transpose_product(a, a, 1, 0, c), Error);
}

TEST(Single, ProductsOverNothingAreZero) {
  SingleMatrix c = SingleMatrix::Constant(2, 3, 7);
  multiply(SingleMatrix(2, 0), SingleMatrix(0, 3), c);
  EXPECT_EQ(c, SingleMatrix::Zero(2, 3).eval());
}

}  // namespace single_test
}  // namespace ecotone
