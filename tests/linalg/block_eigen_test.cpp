#include "ecotone/linalg/block_eigen.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/linalg/products.h"
#include "linalg/support.h"

namespace ecotone {
namespace block_eigen_test {

/// Q diag(values) Q' with a random orthogonal Q.
struct Known {
  Matrix q;
  Vector values;

  explicit Known(Vector of)
      : q(symmetric_eigen(random_spd(of.size(), 11), with_threads(1)).vectors), values(std::move(of)) {}
  Matrix multiply(const Matrix& x) const { return q * values.asDiagonal() * (q.transpose() * x); }
};

Vector falling(Index n, double rate) {
  Vector values(n);
  for (Index i = 0; i < n; ++i) values[i] = std::pow(rate, static_cast<double>(i));
  return values;
}

/// Sine of the largest angle between the spaces of columns of length 1.
double angle(const Matrix& a, const Matrix& b) { return (b - a * (a.transpose() * b)).norm(); }

TEST(LargestByBlocks, FindsWhatIsThere) {
  for (const double rate : {0.5, 0.9, 0.98}) {
    const Known a(falling(500, rate));
    const auto multiply = [&](const Matrix& x) { return a.multiply(x); };
    for (const Index k : {1, 3, 12}) {
      const LargestEigen found = largest_by_blocks(multiply, 500, k, with_threads(2));
      ASSERT_TRUE(found.converged) << rate << " " << k;
      EXPECT_LT((found.values - a.values.head(k)).cwiseAbs().maxCoeff(), 1e-12);
      EXPECT_LT(angle(a.q.leftCols(k), found.vectors), 1e-9) << rate << " " << k;
      EXPECT_LT((found.vectors.transpose() * found.vectors - Matrix::Identity(k, k)).norm(), 1e-12);
    }
  }
}

TEST(LargestByBlocks, HandlesLowRankZeroAndNegativeOperators) {
  const Context context = with_threads(2);
  Vector values = Vector::Zero(400);
  values.head(3) << 5, 4, 1;
  const Known low(values);
  const LargestEigen three = largest_by_blocks([&](const Matrix& x) { return low.multiply(x); }, 400, 5, context);
  EXPECT_TRUE(three.converged);
  EXPECT_LT((three.values - values.head(5)).cwiseAbs().maxCoeff(), 1e-12);
  const LargestEigen zero = largest_by_blocks([](const Matrix& x) -> Matrix { return 0 * x; }, 400, 2, context);
  EXPECT_TRUE(zero.converged);
  EXPECT_EQ(zero.values, Vector::Zero(2));
  values.tail(2) << -9, -8;
  const Known mixed(values);
  const LargestEigen top = largest_by_blocks([&](const Matrix& x) { return mixed.multiply(x); }, 400, 2, context);
  EXPECT_NEAR(top.values[0], 5, 1e-11);
  EXPECT_NEAR(top.values[1], 4, 1e-11);
}

TEST(LargestByBlocks, EqualEigenvaluesAreFoundTogether) {
  Vector values = falling(450, 0.95);
  values.head(4).setConstant(2);
  const Known a(values);
  const LargestEigen found = largest_by_blocks([&](const Matrix& x) { return a.multiply(x); }, 450, 4, with_threads(2));
  EXPECT_LT((found.values.array() - 2).abs().maxCoeff(), 1e-12);
  EXPECT_LT(angle(a.q.leftCols(4), found.vectors), 1e-9);
}

TEST(LargestByBlocks, AGoodStartSavesProducts) {
  const Known a(falling(600, 0.97));
  Index products = 0;
  const auto multiply = [&](const Matrix& x) {
    ++products;
    return a.multiply(x);
  };
  const LargestEigen cold = largest_by_blocks(multiply, 600, 3, with_threads(1));
  const Index without = std::exchange(products, 0);
  const Matrix start = cold.vectors + 1e-6 * random_matrix(600, 3);
  const LargestEigen warm = largest_by_blocks(multiply, 600, 3, with_threads(1), &start);
  EXPECT_LT(products, without);
  EXPECT_LT((warm.values - cold.values).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(LargestByBlocks, EqualBytesForAnyNumberOfThreads) {
  const Matrix a = random_spd(520);
  const auto run = [&](int threads) {
    const Context context = with_threads(threads);
    return largest_by_blocks([&](const Matrix& x) { return product(a, x, context); }, 520, 4, context);
  };
  const LargestEigen one = run(1);
  for (const int threads : {2, 7}) {
    const LargestEigen other = run(threads);
    EXPECT_TRUE(same_bytes(one.values, other.values));
    EXPECT_TRUE(same_bytes(one.vectors, other.vectors));
  }
}

TEST(LargestByBlocks, RefusesWhatIsNotFinite) {
  const auto broken = [](const Matrix& x) -> Matrix { return x * std::nan(""); };
  EXPECT_THROW(largest_by_blocks(broken, 500, 2, with_threads(1)), Error);
  EXPECT_THROW(largest_by_blocks(broken, 50, 2, with_threads(1)), Error);
}

}  // namespace block_eigen_test
}  // namespace ecotone
