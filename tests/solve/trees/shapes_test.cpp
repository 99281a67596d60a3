// Trees of other shapes against golden cases of our own (tests/golden/trees/make_shapes.py), anchors against the shared
// ones, and what constraints and draws promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "ecotone/base/error.h"
#include "ecotone/base/random.h"
#include "ecotone/solve/trees/anchor.h"
#include "ecotone/solve/trees/boosted.h"
#include "ecotone/solve/trees/forest.h"
#include "ecotone/solve/trees/importance.h"
#include "solve/trees/golden_trees.h"

namespace ecotone::test {
namespace tree_shapes_test {

using trees_test::expect_close;
using trees_test::golden;

Context two_threads() { return Context({.threads = 2, .seed = 4}); }

/// Rows of which the label rises with column 0, depends on the product of 1 and 2, and not on 3.
struct Numbers {
  Matrix x;
  TreeLabels labels;
};

Numbers numbers_of(Index rows) {
  Numbers made{Matrix(rows, 4), {.loss = TreeLoss::squared, .y = Vector(rows)}};
  Random random(7, "tree-shapes-test");
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 4; ++j) made.x(i, j) = random.normal();
    made.labels.y[i] = made.x(i, 0) + made.x(i, 1) * made.x(i, 2) + 0.5 * random.normal();
  }
  return made;
}

TEST(SymmetricTrees, AreTheGoldenOnes) {
  const Json d = golden("symmetric");
  ASSERT_GT(d["gap"].get<double>(), 1e-6);
  TreeLabels labels{.loss = TreeLoss::logistic, .y = vector_of(d["y"])};
  TreeOptions options{.shape = TreeShape::symmetric, .rate = d["rate"], .leaves = 15, .lam = d["lam"]};
  options.depth = d["levels"];
  options.min_rows = d["min_rows"];
  options.min_hessian = d["min_hessian"];
  for (const int threads : {1, 7}) {
    const Context context({.threads = threads});
    const TreeRows data = bin_rows(Features::dense(matrix_of(d["X"])), Vector(), {}, 255, context);
    Matrix last;
    const auto after = [&](Index, const std::vector<GrownTree>&, const Matrix& scores) { last = scores; };
    const BoostedTrees model = boost_trees(data, labels, {}, 3, options, context, after);
    for (std::size_t t = 0; t < model.trees.size(); ++t) {
      SCOPED_TRACE(t);
      const DecisionTree& tree = model.trees[t];
      const Json& wanted = d["trees"][t];
      ASSERT_EQ(tree.nodes.size(), wanted["nodes"].size());
      for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
        const Json& node = wanted["nodes"][k];
        EXPECT_EQ(tree.nodes[k].feature, node["feature"].get<Index>());
        EXPECT_NEAR(tree.nodes[k].threshold, number_of(node["threshold"]), 1e-12);
        EXPECT_EQ(tree.nodes[k].missing_left, node["missing_left"].get<bool>());
        EXPECT_EQ(tree.nodes[k].left, node["left"].get<int>());
        EXPECT_EQ(tree.nodes[k].right, node["right"].get<int>());
        EXPECT_NEAR(tree.nodes[k].gain, node["gain"], 1e-7);
        EXPECT_NEAR(tree.nodes[k].score, node["score"], 1e-7);
      }
      for (std::size_t l = 0; l < tree.value.size(); ++l) EXPECT_NEAR(tree.value[l], wanted["value"][l], 1e-8);
    }
    for (Index i = 0; i < last.rows(); ++i) EXPECT_NEAR(last(i, 0), d["scores"][at(i)], 1e-8);
  }
}

TEST(SymmetricTrees, WithoutADepthHaveAsManyLevelsAsTheLeavesHaveRoomFor) {
  const Numbers problem = numbers_of(2000);
  const Context context = two_threads();
  const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), {}, 255, context);
  const TreeOptions options{.shape = TreeShape::symmetric, .leaves = 15};
  const BoostedTrees model = boost_trees(data, problem.labels, {}, 5, options, context);
  for (const DecisionTree& tree : model.trees) {
    EXPECT_LE(tree.value.size(), 8U);
    std::set<std::pair<Index, double>> splits;
    for (const TreeNode& node : tree.nodes) splits.emplace(node.feature, node.threshold);
    EXPECT_EQ(splits.size(), 3U);  // one for each level
  }
}

TEST(SymmetricTrees, SplitCategoriesOfAllLeavesAlike) {
  Numbers problem = numbers_of(2000);
  for (Index i = 0; i < 2000; ++i) {
    problem.x(i, 3) = static_cast<double>(i % 11);
    problem.labels.y[i] += i % 11 < 4 ? 3 : 0;
  }
  const Context context = two_threads();
  const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), std::vector<Index>{3}, 255, context);
  const TreeOptions options{.shape = TreeShape::symmetric, .leaves = 4};
  const BoostedTrees model = boost_trees(data, problem.labels, {}, 1, options, context);
  const TreeNode& root = model.trees[0].nodes[0];
  ASSERT_TRUE(root.categorical);
  std::set<double> left;
  for (int code = 0; code < 11; ++code)
    if (has_level(root.levels, code)) left.insert(data.column[3].level[at(code)]);
  EXPECT_TRUE(left == (std::set<double>{0, 1, 2, 3}) || left.size() == 7);
}

TEST(Forest, OneTreeOfAllRowsAndColumnsIsTheGoldenOne) {
  const Json d = golden("forest");
  const Context context = two_threads();
  const TreeLabels labels{.loss = TreeLoss::squared, .y = vector_of(d["y"])};
  ForestOptions options{.trees = 1, .columns = 4, .bootstrap = false, .growth = {}};
  options.growth.lam = 0;
  options.growth.min_hessian = 0;
  options.growth.min_rows = d["min_rows"];
  const TreeRows data = bin_rows(Features::dense(matrix_of(d["X"])), Vector(), {}, 255, context);
  const DecisionTree tree = grow_forest(data, labels, options, context).trees[0];
  ASSERT_EQ(tree.nodes.size(), d["nodes"].size());
  for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
    SCOPED_TRACE(k);
    const Json& node = d["nodes"][k];
    EXPECT_EQ(tree.nodes[k].feature, node["feature"].get<Index>());
    EXPECT_NEAR(tree.nodes[k].threshold, number_of(node["threshold"]), 1e-12);
    EXPECT_EQ(tree.nodes[k].left, node["left"].get<int>());
    EXPECT_EQ(tree.nodes[k].right, node["right"].get<int>());
    EXPECT_NEAR(tree.nodes[k].gain, node["gain"], 1e-7);
  }
  for (std::size_t l = 0; l < tree.value.size(); ++l) EXPECT_NEAR(tree.value[l], d["value"][l], 1e-8);
}

/// To the last digits, although splits are found by integers of 30 bits.
TEST(Forest, LeavesAreTheMeansOfTheirRows) {
  Numbers problem = numbers_of(300);
  problem.labels.weight = Vector::LinSpaced(300, 0.5, 3);
  problem.labels.y[0] = 1e7;  // and a unit of the gradients that is far from fine
  ForestOptions options{.trees = 3, .columns = 4, .bootstrap = false, .growth = {}};
  options.growth.lam = 0;
  options.growth.min_hessian = 0;
  options.growth.min_rows = 7;
  const Context context = two_threads();
  const Features x = Features::dense(problem.x);
  const TreeRows data = bin_rows(x, problem.labels.weight, {}, 255, context);
  const BoostedTrees forest = grow_forest(data, problem.labels, options, context);
  for (const DecisionTree& tree : forest.trees) {
    const std::vector<std::int32_t> leaf = tree_leaves(tree, data.column, x, context);
    std::vector<double> sum(tree.value.size(), 0.0), total(tree.value.size(), 0.0);
    for (Index i = 0; i < 300; ++i) {
      sum[at(leaf[at(i)])] += problem.labels.weight[i] * problem.labels.y[i];
      total[at(leaf[at(i)])] += problem.labels.weight[i];
    }
    ASSERT_GT(tree.value.size(), 3U);
    for (std::size_t l = 0; l < tree.value.size(); ++l)
      EXPECT_NEAR(tree.value[l], sum[l] / total[l], 1e-13 * (1 + std::abs(tree.value[l])));
  }
}

TEST(Forest, IsTheSameForAnyNumberOfThreadsAndDrawsRowsAndColumns) {
  const Numbers problem = numbers_of(600);
  ForestOptions options;
  options.trees = 8;
  options.columns = 2;
  options.growth.lam = 0;
  options.growth.min_rows = 5;
  const auto grown = [&](int threads, std::uint64_t seed) {
    const Context context({.threads = threads, .seed = seed});
    const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), {}, 255, context);
    return grow_forest(data, problem.labels, options, context);
  };
  const BoostedTrees one = grown(1, 0), seven = grown(7, 0), other = grown(2, 1);
  for (std::size_t t = 0; t < 8; ++t) {
    EXPECT_EQ(one.trees[t].value, seven.trees[t].value);
    EXPECT_NE(one.trees[t].value, other.trees[t].value);
    EXPECT_LT(std::accumulate(one.trees[t].cover.begin(), one.trees[t].cover.end(), 0.0), 0.75 * 600);
    EXPECT_GE(*std::min_element(one.trees[t].cover.begin(), one.trees[t].cover.end()), 5);
  }
  EXPECT_NE(one.trees[0].value, one.trees[1].value);
}

TEST(Anchor, TermsSystemAndValuesAreTheGoldenOnes) {
  const Json cases = golden("anchor")["cases"];
  ASSERT_FALSE(cases.empty());
  for (const Json& d : cases) {
    SCOPED_TRACE(d["gamma"].dump() + d["loss"].dump());
    const bool probit = d["loss"] == "probit";
    TreeLabels labels{.loss = probit ? TreeLoss::probit : TreeLoss::squared, .y = vector_of(d["y"])};
    if (probit) labels.y = (labels.y.array() > 0).cast<double>();  // -1 and +1 there
    const auto domain = d["domain"].get<std::vector<std::int32_t>>();
    const auto leaf = d["leaf"].get<std::vector<std::int32_t>>();
    const TreeDomains domains{domain, *std::max_element(domain.begin(), domain.end()) + 1};
    const AnchorLoss anchor(labels, domains, d["gamma"]);
    const AnchorLoss::Terms terms = anchor.terms_of(vector_of(d["f"]));
    const LossDerivatives grown_on = anchor.derivatives_of(terms);
    for (Index i = 0; i < labels.y.size(); ++i) {
      expect_close(terms.first[i], d["r"][at(i)]);
      expect_close(terms.second[i], d["dr"][at(i)]);
      expect_close(terms.third[i], d["ddr"][at(i)]);
      expect_close(terms.domain_mean[domain[at(i)]], d["Pr"][at(i)]);
      expect_close(grown_on.first[0][i], d["grad"][at(i)]);
    }
    const std::vector<double> value = anchor.leaf_values(terms, leaf, std::ssize(d["value"]), d["lam"].get<double>(),
                                                         d["rate"].get<double>(), two_threads());
    for (std::size_t l = 0; l < value.size(); ++l) expect_close(value[l], d["value"][l]);
  }
}

TEST(Anchor, GammaTakesTheMeanErrorsOfDomainsAway) {
  // A domain whose labels are higher, and no column that says so: only the leaves can answer.
  Numbers problem = numbers_of(1200);
  std::vector<std::int32_t> domain;
  for (Index i = 0; i < 1200; ++i) {
    domain.push_back(i % 3 == 0 ? 1 : 0);
    problem.x(i, 3) += domain.back() == 1 ? 1 : 0;
    problem.labels.y[i] += domain.back() == 1 ? 2 : 0;
  }
  const TreeDomains domains{domain, 2};
  const Context context = two_threads();
  const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), {}, 255, context);
  const auto spread = [&](double gamma) {
    TreeOptions options{.leaves = 8};
    options.gamma = gamma;
    Matrix last;
    const auto after = [&](Index, const std::vector<GrownTree>&, const Matrix& scores) { last = scores; };
    boost_trees(data, problem.labels, domains, 30, options, context, after);
    Vector mean = Vector::Zero(2), count = Vector::Zero(2);
    for (Index i = 0; i < 1200; ++i) {
      mean[domain[at(i)]] += problem.labels.y[i] - last(i, 0);
      count[domain[at(i)]] += 1;
    }
    return std::abs(mean[1] / count[1] - mean[0] / count[0]);
  };
  EXPECT_LT(spread(20), 0.7 * spread(1));
}

TEST(MonotoneTrees, ScoresRiseWithTheColumnEverywhere) {
  Numbers problem = numbers_of(3000);
  for (Index i = 0; i < 3000; ++i) problem.labels.y[i] += std::sin(4 * problem.x(i, 0));  // not monotone itself
  const Context context = two_threads();
  const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), {}, 255, context);
  const auto falls = [&](std::vector<int> monotone, double sign) {
    TreeOptions options{.leaves = 31};
    options.monotone = std::move(monotone);
    const BoostedTrees model = boost_trees(data, problem.labels, {}, 40, options, context);
    Index count = 0;
    for (Index i = 0; i < 50; ++i) {
      Matrix along = problem.x.row(i).replicate(80, 1);
      for (Index k = 0; k < 80; ++k) along(k, 0) = -3 + 6 * static_cast<double>(k) / 79;
      const Matrix score = tree_scores(model, data.column, Features::dense(along), context);
      for (Index k = 1; k < 80; ++k) count += sign * (score(k, 0) - score(k - 1, 0)) < -1e-12;
    }
    return count;
  };
  EXPECT_GT(falls({}, 1), 0);
  EXPECT_EQ(falls({1, 0, 0, 0}, 1), 0);
  EXPECT_EQ(falls({-1, 0, 0, 0}, -1), 0);
}

/// Rows without a value may lie anywhere: here below all others, although scores rise.
TEST(MonotoneTrees, MissingValuesHaveNoPlaceInTheOrder) {
  Numbers problem = numbers_of(2000);
  for (Index i = 0; i < 2000; ++i) {
    problem.labels.y[i] = problem.x(i, 0);
    if (i % 4 == 0) problem.x(i, 0) = std::nan(""), problem.labels.y[i] = -9;
  }
  const Context context = two_threads();
  const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), {}, 255, context);
  TreeOptions options{.rate = 0.3, .leaves = 8};
  options.monotone = {1, 0, 0, 0};
  const BoostedTrees model = boost_trees(data, problem.labels, {}, 60, options, context);
  Matrix rows = Matrix::Zero(3, 4);
  rows.col(0) << std::nan(""), -2, 2;
  const Matrix score = tree_scores(model, data.column, Features::dense(rows), context);
  EXPECT_NEAR(score(0, 0), -9, 0.5);
  EXPECT_NEAR(score(1, 0), -2, 0.3);
  EXPECT_NEAR(score(2, 0), 2, 0.3);
}

TEST(TreeDraws, RowsAndColumnsAreDrawnByTreeAndNotByThread) {
  const Numbers problem = numbers_of(20'000);
  TreeOptions options{.leaves = 8, .rows = 0.5, .cols = 0.5};
  const auto fitted = [&](int threads, std::uint64_t seed) {
    const Context context({.threads = threads, .seed = seed});
    const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), {}, 255, context);
    return boost_trees(data, problem.labels, {}, 6, options, context);
  };
  const BoostedTrees one = fitted(1, 0), seven = fitted(7, 0), other = fitted(1, 9);
  bool differs = false;
  for (std::size_t t = 0; t < one.trees.size(); ++t) {
    EXPECT_EQ(one.trees[t].value, seven.trees[t].value);
    differs = differs || one.trees[t].value != other.trees[t].value;
    const double rows = std::accumulate(one.trees[t].cover.begin(), one.trees[t].cover.end(), 0.0);
    EXPECT_NEAR(rows, 10'000, 400);
    std::set<Index> columns;
    for (const TreeNode& node : one.trees[t].nodes) columns.insert(node.feature);
    EXPECT_LE(columns.size(), 2U);
  }
  EXPECT_TRUE(differs);
}

TEST(TreeImportance, GainsOfDomainsAddUpToTheGain) {
  const Numbers problem = numbers_of(900);
  std::vector<std::int32_t> domain;
  for (Index i = 0; i < 900; ++i) domain.push_back(static_cast<std::int32_t>(i % 3));
  const TreeDomains domains{domain, 3};
  const Context context = two_threads();
  const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), {}, 255, context);
  const TreeOptions options{.leaves = 8, .lam = 0};
  Vector gains = Vector::Zero(4);
  Matrix by_domain = Matrix::Zero(3, 4);
  boost_trees(data, problem.labels, domains, 5, options, context, {},
              [&](const GrownTree& grown, const Gradients& gradients) {
                add_gains(grown.tree, gains);
                add_domain_gains(grown, gradients, domains, options.lam, context, by_domain);
              });
  // Without a penalty the steps are least squares, so what a split takes off all domains' losses is its gain.
  for (Index j = 0; j < 4; ++j) EXPECT_NEAR(by_domain.col(j).sum(), gains[j], 1e-6 * gains.sum());
  EXPECT_LT(gains[3], 0.1 * gains[0]);
}

}  // namespace tree_shapes_test
}  // namespace ecotone::test
