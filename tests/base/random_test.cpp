#include "ecotone/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace ecotone {
namespace random_test {

using Words4 = std::array<std::uint32_t, 4>;
using Words2 = std::array<std::uint32_t, 2>;

/// sum (observed - expected)^2 / expected
double chi_square(const std::vector<double>& observed, const std::vector<double>& expected) {
  double sum = 0;
  for (std::size_t i = 0; i < observed.size(); ++i)
    sum += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
  return sum;
}

/// The chi-square value that fewer than one in a million exceed (Wilson and Hilferty's approximation).
double chi_square_limit(double freedom) {
  const double h = 2 / (9 * freedom);
  return freedom * std::pow(1 - h + 4.75 * std::sqrt(h), 3);
}

struct Moments {
  double mean, variance, skewness, kurtosis;
};

template <class Draw>
Moments moments(int n, Draw&& draw) {
  std::vector<double> x(static_cast<std::size_t>(n));
  double mean = 0;
  for (double& v : x) mean += v = draw();
  mean /= n;
  double m2 = 0, m3 = 0, m4 = 0;
  for (const double v : x) {
    const double d = v - mean;
    m2 += d * d / n;
    m3 += d * d * d / n;
    m4 += d * d * d * d / n;
  }
  return {mean, m2, m3 / std::pow(m2, 1.5), m4 / (m2 * m2)};
}

TEST(Philox, PublishedVectors) {
  EXPECT_EQ(philox(Words4{0, 0, 0, 0}, Words2{0, 0}), (Words4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox(Words4{ones, ones, ones, ones}, Words2{ones, ones}),
            (Words4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(Words4{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, Words2{0xa4093822, 0x299f31d0}),
            (Words4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(HashText, PublishedVectors) {
  EXPECT_EQ(hash_text(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(hash_text("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(hash_text("foobar"), 0x85944171f73967e8ULL);
}

TEST(Random, EqualKeysGiveEqualDrawsAndOtherKeysOthers) {
  Random a(1, "landmarks", 3), b(1, "landmarks", 3);
  std::set<std::uint64_t> first;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a.bits();
    EXPECT_EQ(x, b.bits());
    first.insert(x);
  }
  for (Random other : {Random(2, "landmarks", 3), Random(1, "landmark", 3), Random(1, "landmarks", 4)})
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(first.contains(other.bits()));
}

TEST(Random, DrawsStayTheSameForever) {
  // Published results name a seed: a change of these draws would silently change them all.
  Random random(42, "test", 7);
  const std::uint64_t drawn[] = {random.bits(), random.bits(), random.bits()};
  const std::uint64_t expected[] = {0x7ff9b72b7a931506ULL, 0x776417d9056d8c24ULL, 0x26e5df7a144dfcf3ULL};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(drawn[i], expected[i]);
}

TEST(Random, UniformIsUniform) {
  Random random(1, "uniform");
  std::vector<double> counts(100);
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    counts[static_cast<std::size_t>(u * 100)] += 1;
  }
  EXPECT_LT(chi_square(counts, std::vector<double>(100, n / 100.0)), chi_square_limit(99));
}

TEST(Random, NeighbouringBlocksAreIndependent) {
  // Pairs of first draws of blocks b and b + 1 fill the unit square evenly.
  std::vector<double> counts(64);
  const int n = 50000;
  for (int b = 0; b < n; ++b) {
    const auto x = static_cast<std::size_t>(Random(5, "pairs", static_cast<std::uint64_t>(2 * b)).uniform() * 8);
    const auto y = static_cast<std::size_t>(Random(5, "pairs", static_cast<std::uint64_t>(2 * b + 1)).uniform() * 8);
    counts[8 * x + y] += 1;
  }
  EXPECT_LT(chi_square(counts, std::vector<double>(64, n / 64.0)), chi_square_limit(63));
}

TEST(Random, UniformOfAnIntervalExcludesItsEnd) {
  Random random(1, "interval");
  const double high = std::nextafter(1.0, 2.0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(random.uniform(1.0, high), 1.0);
  for (int i = 0; i < 1000; ++i) {
    const double x = random.uniform(-3, 5);
    EXPECT_GE(x, -3);
    EXPECT_LT(x, 5);
  }
}

TEST(Random, BelowIsUnbiased) {
  Random random(2, "below");
  // With n = 3 x 2^62 a plain remainder would hit the lower third twice as often.
  const std::uint64_t n = 3ULL << 62;
  std::vector<double> counts(3);
  for (int i = 0; i < 30000; ++i) {
    const std::uint64_t x = random.below(n);
    ASSERT_LT(x, n);
    counts[static_cast<std::size_t>(x >> 62)] += 1;
  }
  EXPECT_LT(chi_square(counts, {10000, 10000, 10000}), chi_square_limit(2));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(random.below(1), 0U);
}

TEST(Random, NormalHasItsMomentsAndTails) {
  Random random(3, "normal");
  const int n = 200000;
  const Moments m = moments(n, [&] { return random.normal(); });
  EXPECT_NEAR(m.mean, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(m.variance, 1, 5 * std::sqrt(2.0 / n));
  EXPECT_NEAR(m.skewness, 0, 5 * std::sqrt(6.0 / n));
  EXPECT_NEAR(m.kurtosis, 3, 5 * std::sqrt(24.0 / n));
  // Cells of equal probability by the distribution function.
  std::vector<double> counts(50);
  for (int i = 0; i < n; ++i) {
    const double p = 0.5 * std::erfc(-random.normal() / std::numbers::sqrt2);
    counts[std::min<std::size_t>(49, static_cast<std::size_t>(p * 50))] += 1;
  }
  EXPECT_LT(chi_square(counts, std::vector<double>(50, n / 50.0)), chi_square_limit(49));
}

/// Counts of 0 .. against the exact probabilities; cells with fewer than 10 expected are merged at both ends.
void check_poisson(double mean, int n) {
  Random random(4, "poisson", static_cast<std::uint64_t>(mean * 1000));
  std::map<std::int64_t, double> observed;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const std::int64_t k = random.poisson(mean);
    ASSERT_GE(k, 0);
    observed[k] += 1;
    sum += static_cast<double>(k);
    squares += (static_cast<double>(k) - mean) * (static_cast<double>(k) - mean);
  }
  EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(mean / n));
  EXPECT_NEAR(squares / n, mean, 5 * std::sqrt((mean + 2 * mean * mean) / n));
  std::vector<double> counts, expected;
  double cell_count = 0, cell_expected = 0, below = 0;
  for (std::int64_t k = 0; static_cast<double>(k) < mean + 20 * std::sqrt(mean) + 20; ++k) {
    const auto x = static_cast<double>(k);
    cell_expected += n * std::exp(-mean + x * std::log(mean) - std::lgamma(x + 1));
    cell_count += observed[k];
    below += observed[k];
    if (cell_expected < 10) continue;
    counts.push_back(std::exchange(cell_count, 0));
    expected.push_back(std::exchange(cell_expected, 0));
  }
  counts.back() += cell_count + (n - below);
  expected.back() += cell_expected;
  EXPECT_LT(chi_square(counts, expected), chi_square_limit(std::max<double>(1, static_cast<double>(counts.size()) - 1)))
      << "mean " << mean;
}

TEST(Random, PoissonHasItsLaw) {
  for (const double mean : {0.01, 0.7, 3.0, 12.5, 29.9, 30.0, 45.0, 200.0, 5000.0}) check_poisson(mean, 40000);
  Random random(4, "edge");
  EXPECT_EQ(random.poisson(0), 0);
  const double mean = 1e12;
  for (int i = 0; i < 100; ++i) EXPECT_NEAR(static_cast<double>(random.poisson(mean)), mean, 7e6);
}

TEST(Random, PermutationsOfFourAreEquallyLikely) {
  std::map<std::vector<Index>, double> counts;
  Random random(5, "permutation");
  const int n = 48000;
  for (int i = 0; i < n; ++i) counts[random.permutation(4)] += 1;
  ASSERT_EQ(counts.size(), 24U);
  std::vector<double> observed;
  for (const auto& [permutation, count] : counts) observed.push_back(count);
  EXPECT_LT(chi_square(observed, std::vector<double>(24, n / 24.0)), chi_square_limit(23));
}

TEST(Random, PermutationsAreComplete) {
  for (const Index n : {0, 1, 2, 1000}) {
    std::vector<Index> p = Random(6, "n").permutation(n);
    std::sort(p.begin(), p.end());
    ASSERT_EQ(p.size(), static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) EXPECT_EQ(p[static_cast<std::size_t>(i)], i);
  }
}

TEST(Random, SamplesAreDifferentAndEvenlySpread) {
  // Both ways of sampling: a few of many (k <= n / 8) and many of few.
  for (const auto& [n, k] : {std::pair<Index, Index>{40, 5}, {40, 6}, {10, 10}}) {
    Random random(7, "sample", static_cast<std::uint64_t>(k));
    std::vector<double> counts(static_cast<std::size_t>(n)), first(static_cast<std::size_t>(n));
    const int repetitions = 20000;
    for (int i = 0; i < repetitions; ++i) {
      const std::vector<Index> chosen = random.sample(n, k);
      ASSERT_EQ(std::set<Index>(chosen.begin(), chosen.end()).size(), static_cast<std::size_t>(k));
      for (const Index c : chosen) counts.at(static_cast<std::size_t>(c)) += 1;
      first.at(static_cast<std::size_t>(chosen[0])) += 1;
    }
    const double each = static_cast<double>(repetitions) / static_cast<double>(n);
    EXPECT_LT(chi_square(counts, std::vector<double>(counts.size(), each * static_cast<double>(k))),
              chi_square_limit(static_cast<double>(n) - 1));
    EXPECT_LT(chi_square(first, std::vector<double>(first.size(), each)), chi_square_limit(static_cast<double>(n) - 1));
  }
  EXPECT_TRUE(Random(7, "none").sample(5, 0).empty());
  EXPECT_EQ(Random(7, "huge").sample(Index{1} << 60, 3).size(), 3U);
}

TEST(Random, AFewOfManyBeginTheSamePermutation) {
  const std::vector<Index> all = Random(8, "prefix").permutation(800);
  const std::vector<Index> few = Random(8, "prefix").sample(800, 100);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
}

}  // namespace random_test
}  // namespace ecotone
