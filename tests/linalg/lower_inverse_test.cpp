#include "ecotone/linalg/lower_inverse.h"

#include <gtest/gtest.h>

#include "ecotone/linalg/cholesky.h"
#include "linalg/support.h"

namespace ecotone {
namespace lower_inverse_test {

TEST(LowerInverse, TimesTheMatrixIsTheUnitMatrix) {
  for (const Index n : {1, 5, 256, 257, 700}) {
    const auto factor = Cholesky::factor(random_spd(n), with_threads(2));
    ASSERT_TRUE(factor);
    const Matrix w = lower_inverse(factor->lower(), with_threads(2));
    EXPECT_LT((w * factor->lower() - Matrix::Identity(n, n)).cwiseAbs().maxCoeff(), 1e-12) << n;
    EXPECT_EQ(Matrix(w.triangularView<Eigen::StrictlyUpper>()).cwiseAbs().maxCoeff(), 0) << n;
    EXPECT_TRUE(same_bytes(w, lower_inverse(factor->lower(), with_threads(3)))) << n;
  }
}

TEST(LowerInverse, OfNothingIsNothing) { EXPECT_EQ(lower_inverse(Matrix(0, 0), with_threads(1)).size(), 0); }

}  // namespace lower_inverse_test
}  // namespace ecotone
