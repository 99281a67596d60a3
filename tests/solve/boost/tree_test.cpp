// Boosting of small trees.
#include "ecotone/solve/boost/tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/solve/boost/boost.h"

namespace ecotone {
namespace boost_tree_test {

struct Data {
  Matrix source, target;
  std::vector<double> y;
  BoostProblem problem(bool with_target) const {
    BoostProblem problem{.source = Features::dense(source), .y = y};
    if (with_target) problem.target = Features::dense(target);
    return problem;
  }
};

/// The label is the sign of the product of two columns, which no stump can see.
Data crossed(Index rows) {
  Data data;
  Random random(11, "test");
  const auto draw = [&](double move) {
    Matrix x(rows, 3);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < 3; ++j) x(i, j) = random.uniform(-1, 1) + move;
    return x;
  };
  data.source = draw(0);
  data.target = draw(0.1);
  for (Index i = 0; i < rows; ++i) data.y.push_back(data.source(i, 0) * data.source(i, 2) > 0 ? 1 : -1);
  return data;
}

Context threads(int count) { return Context(Context::Settings{.threads = count}); }

TEST(BoostTree, LearnsWhatStumpsCannot) {
  const Data data = crossed(400);
  BoostOptions options;
  options.search = BoostSearch::all;
  options.bins = BoostBins::quantile;
  options.rounds = 40;
  const BoostFit stumps = fit_boost(data.problem(false), options, threads(2));
  options.depth = 3;
  const BoostFit trees = fit_boost(data.problem(false), options, threads(2));
  EXPECT_GT(stumps.rounds.back().err_source, 0.2);
  EXPECT_LT(trees.rounds.back().err_source, 0.02);
  ASSERT_EQ(trees.trees.size(), trees.rounds.size());
  EXPECT_EQ(trees.trees[0].node.size(), 7U);
  EXPECT_EQ(trees.trees[0].value.size(), 8U);
}

/// The identity and bounds of every round, from the trees alone.
void check_theory(const Data& data, const BoostOptions& options, bool with_target) {
  const BoostFit fit = fit_boost(data.problem(with_target), options, threads(1));
  ASSERT_FALSE(fit.rounds.empty());
  const auto n_s = static_cast<double>(data.source.rows());
  const double n_t = with_target ? static_cast<double>(data.target.rows()) : 0;
  Vector f_s = Vector::Zero(data.source.rows()), f_t = Vector::Zero(data.target.rows());
  double log_product = 0;
  for (std::size_t n = 0; n < fit.rounds.size(); ++n) {
    const BoostRound& round = fit.rounds[n];
    for (Index i = 0; i < f_s.size(); ++i)
      f_s[i] += round.alpha * data.y[static_cast<std::size_t>(i)] * fit.trees[n].side(data.source.row(i).data());
    for (Index i = 0; i < f_t.size(); ++i) {
      const double size = std::abs(fit.trees[n].at(data.target.row(i).data()));
      EXPECT_LE(size, 1);
      f_t[i] += round.beta * (size <= options.gamma ? -size : size);
    }
    log_product += round.log_z;
    double sum = n_s * (-f_s.array()).exp().mean();
    if (with_target) sum += n_t * (-f_t.array()).exp().mean();
    ASSERT_NEAR(std::log(sum / (n_s + n_t)), log_product, 1e-9) << n;
    ASSERT_LE(round.log_z, round.log_bound + 1e-9);
    ASSERT_LT(round.log_bound, 0);
    EXPECT_NEAR(round.err_source, (f_s.array() <= 0).cast<double>().mean(), 1e-9);
    if (with_target) {
      EXPECT_NEAR(round.loss_target, (f_t.array() < 0).cast<double>().mean(), 1e-9);
    }
  }
  EXPECT_NEAR(fit.source_weight.sum(), 1, 1e-12);
}

TEST(BoostTree, KeepsTheTheory) {
  const Data data = crossed(200);
  BoostOptions options;
  options.depth = 3;
  options.rounds = 60;
  options.candidates = 10;
  options.select = BoostSelect::min_bound;
  check_theory(data, options, true);
  options.search = BoostSearch::all;
  options.depth = 2;
  check_theory(data, options, false);
}

TEST(BoostTree, GivesEqualBytesForAnyNumberOfThreads) {
  const Data data = crossed(300);
  BoostOptions options;
  options.depth = 2;
  options.rounds = 20;
  options.search = BoostSearch::all;
  const BoostFit expected = fit_boost(data.problem(false), options, threads(1));
  for (const int count : {2, 5}) {
    const BoostFit found = fit_boost(data.problem(false), options, threads(count));
    EXPECT_TRUE((found.source_weight.array() == expected.source_weight.array()).all());
  }
}

TEST(BoostTree, FavoursNoClass) {
  Data data = crossed(60);
  data.target.array() += 0.7;  // leaves without source rows
  for (const bool with_target : {true, false}) {
    BoostOptions options;
    options.depth = 4;
    options.rounds = 30;
    options.candidates = 5;
    options.gamma = 0.1;
    if (!with_target) options.search = BoostSearch::all;
    Data swapped = data;
    for (double& y : swapped.y) y = -y;
    const BoostFit a = fit_boost(data.problem(with_target), options, threads(1));
    const BoostFit b = fit_boost(swapped.problem(with_target), options, threads(1));
    ASSERT_EQ(a.trees.size(), b.trees.size());
    ASSERT_FALSE(a.trees.empty());
    Index undecided = 0;
    for (std::size_t n = 0; n < a.trees.size(); ++n) {
      EXPECT_EQ(a.rounds[n].alpha, b.rounds[n].alpha);
      for (std::size_t l = 0; l < a.trees[n].value.size(); ++l) {
        EXPECT_EQ(a.trees[n].value[l], -b.trees[n].value[l]);
        EXPECT_EQ(a.trees[n].sign[l], -b.trees[n].sign[l]);
        undecided += a.trees[n].value[l] == 0 ? 1 : 0;
      }
    }
    EXPECT_GT(undecided, 0);
    const Features x = Features::dense(data.target);
    const Vector votes = tree_votes(a.trees, a.alphas(std::ssize(a.trees)), x, threads(1));
    EXPECT_EQ(votes, Vector(-tree_votes(b.trees, b.alphas(std::ssize(b.trees)), x, threads(1))));
  }
}

TEST(BoostTree, VotesWithTheSignsOfItsLeaves) {
  BoostTree tree;
  tree.node = {{0, 0.5}, {1, 0.0}, {1, 2.0}};
  tree.value = {0.2, -1, 0, 0.7};
  tree.sign = {1, -1, -1, 1};
  Matrix x(4, 2);
  x << 0.5, 0, 0.4, 1, 0.6, 2, 0.6, 2.1;
  const std::vector<double> wanted = {0.2, -1, 0, 0.7};
  for (Index i = 0; i < 4; ++i) EXPECT_EQ(tree.at(x.row(i).data()), wanted[static_cast<std::size_t>(i)]);
  const std::vector<BoostTree> trees = {tree};
  const std::vector<double> weights = {3};
  const Vector votes = tree_votes(trees, weights, Features::dense(x), threads(1));
  EXPECT_EQ(votes, Vector(Eigen::Vector4d(3, -3, -3, 3)));
}

}  // namespace boost_tree_test
}  // namespace ecotone
