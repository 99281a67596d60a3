#include "ecotone/solve/neighbours/neighbours.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"

namespace ecotone {
namespace neighbours_test {

Matrix normal(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed, "neighbours_test");
  Matrix x(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) x(i, j) = random.normal();
  }
  return x;
}

/// All distances by two loops, sorted.
Neighbours naive(const Matrix& query, const Matrix& reference, Index k, Self self) {
  Neighbours result;
  result.index.resize(query.rows(), k);
  result.squared_distance.resize(query.rows(), k);
  for (Index i = 0; i < query.rows(); ++i) {
    std::vector<std::pair<double, Index>> all;
    for (Index j = 0; j < reference.rows(); ++j) {
      if (self == Self::leave_out && i == j) continue;
      all.emplace_back((query.row(i) - reference.row(j)).squaredNorm(), j);
    }
    std::sort(all.begin(), all.end());
    for (Index j = 0; j < k; ++j) {
      result.squared_distance(i, j) = all[static_cast<std::size_t>(j)].first;
      result.index(i, j) = all[static_cast<std::size_t>(j)].second;
    }
  }
  return result;
}

void expect_exact(const Matrix& query, const Matrix& reference, Index k, Self self) {
  const Neighbours expected = naive(query, reference, k, self);
  for (const int threads : {1, 3}) {
    const Context context(Context::Settings{.threads = threads});
    const Neighbours found = nearest_neighbours(query, reference, k, self, context);
    EXPECT_TRUE(found.index == expected.index);
    EXPECT_TRUE(found.squared_distance == expected.squared_distance);
  }
}

TEST(Neighbours, AreThoseOfTwoLoops) {
  const Matrix x = normal(800, 7, 1);
  expect_exact(x, x, 15, Self::leave_out);
  expect_exact(x, x, 15, Self::keep);
  expect_exact(x.topRows(500), x, 3, Self::leave_out);
  expect_exact(normal(70, 7, 2), x, 40, Self::keep);
  expect_exact(x.topRows(1), x, 800, Self::keep);
  expect_exact(x.topRows(9), x.topRows(9), 8, Self::leave_out);
}

TEST(Neighbours, OfEqualDistancesTheSmallerIndexIsNearer) {
  // A grid of small whole numbers: most distances are tied, and every row occurs many times.
  Matrix x = (normal(500, 3, 3) * 1.5).array().round();
  expect_exact(x, x, 20, Self::leave_out);
  expect_exact(x, x, 20, Self::keep);
  const Matrix same = Matrix::Constant(300, 2, 0.1);
  expect_exact(same, same, 5, Self::leave_out);
  const Neighbours found = nearest_neighbours(same, same, 5, Self::keep, Context());
  EXPECT_EQ(found.index(299, 4), 4);
  EXPECT_EQ(found.squared_distance.maxCoeff(), 0);
}

TEST(Neighbours, SinglePrecisionCostsNoDigit) {
  // What floats cannot tell apart: a large common offset, columns of very different size, an outlier, tiny differences.
  const Matrix offset = normal(450, 4, 4).array() + 1e9;
  expect_exact(offset, offset, 10, Self::leave_out);
  Matrix sizes = normal(450, 4, 5);
  sizes.col(0) *= 1e6;
  sizes.col(3) *= 1e-6;
  sizes(13, 1) = 1e12;
  expect_exact(sizes, sizes, 10, Self::leave_out);
  Matrix close = Matrix::Constant(450, 4, 3.0) + 1e-9 * normal(450, 4, 6);
  close(0, 0) = 1000;
  expect_exact(close, close, 10, Self::leave_out);
  const Matrix large = 1e150 * normal(300, 4, 7);
  expect_exact(large, large, 10, Self::leave_out);
  // Squares that underflow: many distances are 0 or equal.
  for (const double size : {1e-155, 1e-160, 1e-162}) {
    const Matrix small = size * normal(450, 4, 8);
    expect_exact(small, small, 10, Self::leave_out);
  }
}

TEST(Neighbours, RefuseWhatHasNone) {
  const Matrix x = normal(10, 2, 9);
  const auto code = [](const Matrix& query, const Matrix& reference, Index k, Self self) -> std::string {
    try {
      nearest_neighbours(query, reference, k, self, Context());
    } catch (const Error& error) {
      return error.code();
    }
    return "none";
  };
  EXPECT_EQ(code(x, x, 10, Self::keep), "none");
  EXPECT_EQ(code(x, x, 11, Self::keep), "bad_k");
  EXPECT_EQ(code(x, x, 10, Self::leave_out), "bad_k");
  EXPECT_EQ(code(x, x, 0, Self::keep), "bad_k");
  EXPECT_EQ(code(x, normal(10, 3, 1), 2, Self::keep), "shape_mismatch");
  EXPECT_EQ(code(x, x.topRows(5), 2, Self::leave_out), "shape_mismatch");
  Matrix broken = x;
  broken(3, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(code(broken, x, 2, Self::keep), "non_finite");
  broken(3, 1) = 1e200;
  EXPECT_EQ(code(x, broken, 2, Self::keep), "non_finite");
}

}  // namespace neighbours_test
}  // namespace ecotone
