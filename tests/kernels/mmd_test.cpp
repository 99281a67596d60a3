#include "ecotone/kernels/mmd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/kernels/bandwidth.h"
#include "linalg/support.h"

namespace ecotone {
namespace mmd_tests {

Context seeded(std::uint64_t seed, int threads = 2) { return Context({.threads = threads, .seed = seed}); }

double naive_mmd(const Matrix& x, const Matrix& y, double sigma) {
  const auto k = [&](const auto& a, const auto& b) { return std::exp(-(a - b).squaredNorm() / (2 * sigma * sigma)); };
  const auto m = static_cast<double>(x.rows());
  const auto n = static_cast<double>(y.rows());
  double xx = 0, yy = 0, xy = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.rows(); ++j) xx += i == j ? 0 : k(x.row(i), x.row(j));
  for (Index i = 0; i < y.rows(); ++i)
    for (Index j = 0; j < y.rows(); ++j) yy += i == j ? 0 : k(y.row(i), y.row(j));
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < y.rows(); ++j) xy += k(x.row(i), y.row(j));
  return xx / (m * (m - 1)) + yy / (n * (n - 1)) - 2 * xy / (m * n);
}

Matrix stacked(const Matrix& x, const Matrix& y) {
  Matrix both(x.rows() + y.rows(), x.cols());
  both << x, y;
  return both;
}

TEST(Mmd, IsTheDoubleLoop) {
  for (const Index n : {2, 60, 300}) {
    const Matrix x = random_matrix(n, 3, 1);
    const Matrix y = (random_matrix(2 * n + 1, 3, 2).array() + 0.4).matrix();
    const double wanted = naive_mmd(x, y, 1.4);
    EXPECT_NEAR(mmd_squared(x, y, 1.4, with_threads(2)), wanted, 1e-12);
    EXPECT_NEAR(mmd_test(stacked(x, y), n, 1.4, 5, with_threads(2)).mmd2, wanted, 1e-12);
    EXPECT_NEAR(mmd_test(stacked(y, x), 2 * n + 1, 1.4, 5, with_threads(2)).mmd2, wanted, 1e-12);
  }
}

TEST(Mmd, NeedsTwoRowsOfEach) {
  EXPECT_THROW(mmd_squared(random_matrix(1, 2), random_matrix(9, 2), 1, with_threads(1)), Error);
  EXPECT_THROW(mmd_test(random_matrix(9, 2), 8, 1, 10, with_threads(1)), Error);
  EXPECT_THROW(mmd_test(random_matrix(9, 2), 4, 1, 0, with_threads(1)), Error);
}

/// All labellings of six rows: the share of those with at least the observed MMD^2 is what many permutations tend to.
TEST(MmdTest, CountsTiesOfSmallSamples) {
  Matrix rows(6, 1);
  rows << 0, 0.1, 0.2, 2, 2.1, 2.2;
  // Of the 20 ways to choose three rows, the observed one and its complement are the most extreme.
  const MmdTest test = mmd_test(rows, 3, 1, 4000, seeded(1));
  EXPECT_NEAR(test.p, 0.1, 0.02);
}

TEST(MmdTest, EqualRowsGiveOneAndTiesOfABinaryColumnCount) {
  EXPECT_EQ(mmd_test(Matrix(Matrix::Ones(50, 2)), 20, 1, 99, seeded(1)).p, 1);
  // MMD^2 of a binary column depends on how many ones each sample has: with 100 and 100 of 200 rows it is smallest, and
  // every permutation has at least that much.
  Matrix x(400, 1);
  for (Index i = 0; i < 400; ++i) x(i, 0) = static_cast<double>(i % 2);
  EXPECT_EQ(mmd_test(x, 200, 1, 199, seeded(2)).p, 1);
}

TEST(MmdTest, PValuesAreUniformWithoutShift) {
  constexpr int draws = 500;
  constexpr Index permutations = 99;
  std::vector<double> p;
  for (int draw = 0; draw < draws; ++draw) {
    const Context context = seeded(static_cast<std::uint64_t>(1000 + draw));
    const Matrix x = random_matrix(80, 2, static_cast<std::uint64_t>(draw));
    p.push_back(mmd_test(x, 40, median_bandwidth(x, context).sigma, permutations, context).p);
  }
  std::sort(p.begin(), p.end());
  // Uniform over 1/100 .. 100/100: the largest distance of the two distribution functions at those points.
  double distance = 0;
  for (int level = 1; level <= 100; ++level) {
    const auto below = std::upper_bound(p.begin(), p.end(), level / 100.0 + 1e-9) - p.begin();
    distance = std::max(distance, std::abs(static_cast<double>(below) / draws - level / 100.0));
  }
  EXPECT_LT(distance, 1.95 / std::sqrt(static_cast<double>(draws)));  // the 0.001 critical value
  EXPECT_LT(p.front(), 0.05);
}

TEST(MmdTest, FindsAShiftOfThreeTenths) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Matrix x = random_matrix(1000, 4, seed);
    x.bottomRows(500).array() += 0.3;
    const Context context = seeded(seed);
    EXPECT_LT(mmd_test(x, 500, median_bandwidth(x, context).sigma, 199, context).p, 0.01) << seed;
  }
}

TEST(MmdTest, SameNumbersForAnyThreads) {
  const Matrix x = random_matrix(900, 3);
  const MmdTest one = mmd_test(x, 300, 1.2, 150, seeded(4, 1));
  for (const int threads : {2, 7}) {
    const MmdTest many = mmd_test(x, 300, 1.2, 150, seeded(4, threads));
    EXPECT_EQ(one.mmd2, many.mmd2);
    EXPECT_EQ(one.p, many.p);
  }
}

TEST(BlockMmd, IsTheMeanOverBlocksAndItsPValueFindsAShift) {
  const Matrix x = random_matrix(2000, 3, 1);
  const Matrix same = random_matrix(3000, 3, 2);
  const Matrix moved = (random_matrix(3000, 3, 3).array() + 0.3).matrix();
  const BlockMmd null = block_mmd(x, same, 1.5, 100, with_threads(2));
  EXPECT_EQ(null.blocks, 20);
  double mean = 0;
  for (Index b = 0; b < 20; ++b) mean += naive_mmd(x.middleRows(b * 100, 100), same.middleRows(b * 150, 150), 1.5) / 20;
  EXPECT_NEAR(null.mmd2, mean, 1e-12);
  EXPECT_GT(null.p, 0.01);
  EXPECT_LT(std::abs(null.mmd2), 4 * null.standard_error);
  const BlockMmd shift = block_mmd(x, moved, 1.5, 100, with_threads(2));
  EXPECT_LT(shift.p, 1e-6);
  EXPECT_NEAR(shift.mmd2, mmd_squared(x, moved, 1.5, with_threads(2)), 4 * shift.standard_error);
  EXPECT_EQ(block_mmd(x, moved, 1.5, 100, with_threads(7)).mmd2, shift.mmd2);
}

TEST(BlockMmd, RefusesTooFewBlocks) {
  const Matrix x = random_matrix(70, 2);
  EXPECT_THROW(block_mmd(x, x, 1, 10, with_threads(1)), Error);
  EXPECT_THROW(block_mmd(x, x, 1, 1, with_threads(1)), Error);
}

}  // namespace mmd_tests
}  // namespace ecotone
