// Errors on new target rows of the rotated moons: trimmed means of 10 repetitions at 20, 30, 40 and 50 degrees stay
// within limits that leave about three standard errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "ecotone/data/generate/generate.h"
#include "ecotone/solve/boost/boost.h"

namespace ecotone {
namespace boost_moons_slow_test {

using Errors = std::array<double, 4>;
constexpr std::array<int, 4> angles = {20, 30, 40, 50};
constexpr int repetitions = 10, first_seed = 700;

Context context(std::uint64_t seed) { return Context(Context::Settings{.threads = 1, .seed = seed}); }

struct Repetition {
  Features source, target, test;
  std::vector<double> y, truth;

  Repetition(int angle, std::uint64_t seed) {
    const Dataset data = generate("moons", {{"angle", std::to_string(angle)}, {"test", "1000"}}, context(seed));
    source = data.x.take(data.domain.rows_of(0));
    target = data.x.take(data.domain.rows_of(1));
    test = data.x.take(data.domain.rows_of(2));
    for (const std::int32_t k : data.y->take(data.domain.rows_of(0)).index) y.push_back(k == 1 ? 1 : -1);
    for (const std::int32_t k : data.y->take(data.domain.rows_of(2)).index) truth.push_back(k == 1 ? 1 : -1);
  }

  /// Percent of new rows that the mean of the normalised votes gets wrong; a vote of 0 is wrong.
  double error(const BoostOptions& options, int runs) const {
    Vector f = Vector::Zero(test.rows());
    const bool alone = options.search == BoostSearch::all;
    BoostProblem problem{.source = source, .y = y};
    if (!alone) problem.target = target;
    for (const BoostFit& fit : fit_boost_runs(problem, options, runs, context(0))) {
      const auto n = static_cast<Index>(fit.rounds.size());
      const std::vector<double> weights = alone ? fit.alphas(n) : fit.betas(n);
      f += StumpVote(fit.stumps(n), weights).values(test, context(0)) /
           std::accumulate(weights.begin(), weights.end(), 0.0);
    }
    double wrong = 0;
    for (Index i = 0; i < f.size(); ++i) wrong += f[i] * truth[static_cast<std::size_t>(i)] <= 0 ? 1 : 0;
    return 100 * wrong / static_cast<double>(f.size());
  }
};

/// Means over the repetitions without the best and the worst.
Errors errors(BoostOptions options, int runs) {
  Errors result{};
  for (std::size_t a = 0; a < angles.size(); ++a) {
    std::vector<double> all;
    for (int r = 0; r < repetitions; ++r) {
      options.seed = static_cast<std::uint64_t>(first_seed + r);
      all.push_back(Repetition(angles[a], options.seed).error(options, runs));
    }
    std::sort(all.begin(), all.end());
    result[a] = std::accumulate(all.begin() + 1, all.end() - 1, 0.0) / (repetitions - 2);
  }
  return result;
}

void expect_within(const Errors& found, const Errors& low, const Errors& high) {
  for (std::size_t a = 0; a < angles.size(); ++a) {
    EXPECT_GE(found[a], low[a]) << angles[a] << " degrees";
    EXPECT_LE(found[a], high[a]) << angles[a] << " degrees";
  }
}

Errors ada() {
  BoostOptions options;
  options.search = BoostSearch::all;
  options.rounds = 40;
  return errors(options, 1);
}

TEST(BoostMoons, AdaBoostIsLost) { expect_within(ada(), {19, 30, 42, 51}, {26, 38, 50, 59}); }

TEST(BoostMoons, OneRunWithThePapersRule) { expect_within(errors({}, 1), {0, 0, 0, 0}, {7, 16, 21, 30}); }

TEST(BoostMoons, TheSmallestBoundIsTenPointsBelowAdaBoost) {
  BoostOptions options;
  options.select = BoostSelect::min_bound;
  options.candidates = 20;
  const Errors found = errors(options, 1), plain = ada();
  expect_within(found, {0, 0, 0, 0}, {8, 7, 15, 28});
  for (std::size_t a = 0; a < angles.size(); ++a) EXPECT_LE(found[a], plain[a] - 10) << angles[a] << " degrees";
}

TEST(BoostMoons, TheVoteOfFiveIsBest) { expect_within(errors({}, 5), {0, 0, 0, 0}, {2, 5, 13, 26}); }

}  // namespace boost_moons_slow_test
}  // namespace ecotone
