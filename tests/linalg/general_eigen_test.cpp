#include "ecotone/linalg/general_eigen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ecotone/base/error.h"
#include "linalg/support.h"

namespace ecotone {
namespace general_eigen_test {

TEST(GeneralEigen, PairsSolveTheirEquation) {
  for (const Index n : {1, 2, 7, 40}) {
    const Matrix a = random_matrix(n, n, 3);
    const GeneralEigen e = general_eigen(a, with_threads(1));
    for (Index j = 0; j < n; ++j) {
      // A (u + i w) = (r + i s) (u + i w)
      const Vector u = e.re.col(j), w = e.im.col(j);
      EXPECT_LT((a * u - e.real[j] * u + e.imag[j] * w).norm(), 1e-12 * a.norm()) << n;
      EXPECT_LT((a * w - e.real[j] * w - e.imag[j] * u).norm(), 1e-12 * a.norm()) << n;
      EXPECT_NEAR(u.squaredNorm() + w.squaredNorm(), 1, 1e-12);
    }
    EXPECT_NEAR(e.real.sum(), a.trace(), 1e-11 * a.norm());
    EXPECT_NEAR(e.imag.sum(), 0, 1e-12);
  }
}

TEST(GeneralEigen, RotationHasAPairOfConjugates) {
  Matrix a(2, 2);
  a << std::cos(0.3), -std::sin(0.3), std::sin(0.3), std::cos(0.3);
  const GeneralEigen e = general_eigen(a, with_threads(1));
  EXPECT_NEAR(e.real[0], std::cos(0.3), 1e-15);
  EXPECT_NEAR(e.imag[0], std::sin(0.3), 1e-15);
  EXPECT_NEAR(e.imag[1], -std::sin(0.3), 1e-15);
}

TEST(GeneralEigen, RefusesWhatIsNotFinite) {
  Matrix a = random_matrix(3, 3);
  a(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(general_eigen(a, with_threads(1)), Error);
  EXPECT_EQ(general_eigen(Matrix(0, 0), with_threads(1)).real.size(), 0);
}

}  // namespace general_eigen_test
}  // namespace ecotone
