// What columns add to the scores of trees: against all subsets of columns, LightGBM, and values known by symmetry.
#include "ecotone/solve/trees/contributions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/base/random.h"
#include "solve/trees/golden_trees.h"

namespace ecotone::test {
namespace trees_test {

/// Numbers, and a last column of `levels` levels.
std::vector<TreeColumn> columns_with_levels(Index numbers, int levels) {
  std::vector<TreeColumn> columns(at(numbers + 1));
  columns.back().categorical = true;
  std::vector<double> own;
  for (int k = 0; k < levels; ++k) own.push_back(k);
  columns.back().level = TreeLevels(std::move(own));
  return columns;
}

DecisionTree tree_of(const Json& json) {
  DecisionTree tree{.nodes = {},
                    .value = json["value"].get<std::vector<double>>(),
                    .cover = json["cover"].get<std::vector<double>>()};
  for (const Json& one : json["nodes"]) {
    TreeNode node{.feature = one["feature"], .left = one["left"], .right = one["right"]};
    node.categorical = one.contains("levels");
    if (node.categorical) {
      for (const Json& level : one["levels"]) add_level(node.levels, level);
    } else {
      node.threshold = one["threshold"];
      node.missing_left = one["missing"] == "left";
    }
    tree.nodes.push_back(node);
  }
  return tree;
}

class GoldenContributions : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenContributions, AreThoseOfLightGbm) {
  const Json d = golden("contributions")[GetParam()];
  BoostedTrees model;
  model.outputs = d["outputs"];
  model.start = Vector::Zero(model.outputs);
  for (const Json& tree : d["trees"]) model.trees.push_back(tree_of(tree));
  const auto columns = columns_with_levels(5, static_cast<int>(d["levels_of_column_5"].size()));
  const Matrix wanted = matrix_of(d["contributions"]);
  const Matrix ours = tree_contributions(model, columns, Features::dense(matrix_of(d["X"])), Context({.threads = 2}));
  ASSERT_EQ(ours.cols(), wanted.cols());
  for (Index i = 0; i < wanted.rows(); ++i) {
    const double unit = wanted.row(i).cwiseAbs().maxCoeff();
    for (Index j = 0; j < wanted.cols(); ++j) EXPECT_NEAR(ours(i, j), wanted(i, j), 1e-12 * unit) << i << ' ' << j;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenContributions,
                         ::testing::Values("squared", "deep", "logistic", "one_leaf", "softmax"));

/// A tree of random splits, which asks the same column more than once on a path; the last column has levels.
DecisionTree random_tree(Index cols, int leaves, Random& random) {
  DecisionTree tree{.nodes = {}, .value = {random.normal()}, .cover = {random.uniform() * 100}};
  std::vector<std::int32_t*> place_of_leaf;
  std::int32_t root = -1;
  tree.nodes.reserve(at(leaves));
  place_of_leaf.push_back(&root);
  while (std::ssize(tree.value) < leaves) {
    const std::size_t leaf = random.below(tree.value.size());
    TreeNode node{.feature = static_cast<Index>(random.below(at(cols)))};
    node.categorical = node.feature == cols - 1;
    node.threshold = random.normal();
    node.missing_left = random.uniform() < 0.5;
    for (int level = 0; level < 4; ++level)
      if (random.uniform() < 0.5) add_level(node.levels, level);
    node.left = -static_cast<std::int32_t>(leaf) - 1;
    node.right = -static_cast<std::int32_t>(tree.value.size()) - 1;
    *place_of_leaf[leaf] = static_cast<std::int32_t>(tree.nodes.size());
    tree.nodes.push_back(node);
    place_of_leaf[leaf] = &tree.nodes.back().left;
    place_of_leaf.push_back(&tree.nodes.back().right);
    tree.value.push_back(random.normal());
    tree.cover.push_back(1 + random.uniform() * 100);
  }
  return tree;
}

double cover_below(const DecisionTree& tree, std::int32_t place) {
  if (place < 0) return tree.cover[at(-place - 1)];
  return cover_below(tree, tree.nodes[at(place)].left) + cover_below(tree, tree.nodes[at(place)].right);
}

/// The value of a row of which only the columns in `known` are known.
double value_of_known(const DecisionTree& tree, const std::vector<TreeColumn>& columns, const Vector& row,
                      unsigned known, std::int32_t place) {
  if (place < 0) return tree.value[at(-place - 1)];
  const TreeNode& node = tree.nodes[at(place)];
  const auto below = [&](std::int32_t child) { return value_of_known(tree, columns, row, known, child); };
  if ((known >> node.feature & 1) != 0)
    return below(node.goes_left(row[node.feature], columns[at(node.feature)]) ? node.left : node.right);
  const double left = cover_below(tree, node.left), right = cover_below(tree, node.right);
  return (left * below(node.left) + right * below(node.right)) / (left + right);
}

/// By the definition: column j joins every subset of the others.
Vector values_over_subsets(const DecisionTree& tree, const std::vector<TreeColumn>& columns, const Vector& row) {
  const auto cols = static_cast<int>(row.size());
  Vector result = Vector::Zero(row.size() + 1);
  const auto value = [&](unsigned known) { return value_of_known(tree, columns, row, known, 0); };
  for (unsigned known = 0; known < 1U << cols; ++known)
    for (int j = 0; j < cols; ++j) {
      if ((known >> j & 1) != 0) continue;
      const int size = std::popcount(known);
      const double weight = std::tgamma(size + 1) * std::tgamma(cols - size) / std::tgamma(cols + 1);
      result[j] += weight * (value(known | 1U << j) - value(known));
    }
  result[row.size()] = value(0);
  return result;
}

Matrix random_rows(Index rows, Index cols, Random& random) {
  Matrix x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      x(i, j) = j + 1 < cols ? random.normal() : static_cast<double>(random.below(6));
      if (random.uniform() < 0.1) x(i, j) = std::nan("");
    }
  return x;
}

TEST(TreeContributions, AreTheMeanOverAllSubsetsOfColumns) {
  const Context context({.threads = 2});
  Random random(5, "contributions-test");
  for (const int leaves : {2, 3, 7, 15, 30}) {
    SCOPED_TRACE(leaves);
    const auto columns = columns_with_levels(4, 4);
    const DecisionTree tree = random_tree(5, leaves, random);
    const BoostedTrees model{.start = Vector::Zero(1), .trees = {tree}};
    const Matrix x = random_rows(6, 5, random);
    const Matrix ours = tree_contributions(model, columns, Features::dense(x), context);
    for (Index i = 0; i < x.rows(); ++i) {
      const Vector wanted = values_over_subsets(tree, columns, x.row(i));
      EXPECT_LT((ours.row(i).transpose() - wanted).cwiseAbs().maxCoeff(), 1e-14);
    }
  }
}

/// Trees of three outputs, wide and narrow, with leaves that no row of training reached.
BoostedTrees random_trees(Index cols, Random& random) {
  BoostedTrees model{.start = Vector::LinSpaced(3, -1, 1), .trees = {}, .outputs = 3};
  for (const int leaves : {31, 1, 5, 200, 12, 64}) {
    model.trees.push_back(random_tree(cols, leaves, random));
    model.trees.back().cover[0] = 0;
  }
  return model;
}

TEST(TreeContributions, AddUpToTheScoresAndAreTheSameBytesForAnyThreadsAndAlone) {
  Random random(7, "contributions-test");
  const Index cols = 40, width = cols + 1;
  const auto columns = columns_with_levels(cols - 1, 4);
  const BoostedTrees model = random_trees(cols, random);
  const Matrix rows = random_rows(1100, cols, random);
  const Features x = Features::dense(rows);
  const Matrix one = tree_contributions(model, columns, x, Context({.threads = 1}));
  const Matrix scores = tree_scores(model, columns, x, Context({.threads = 1}));
  ASSERT_EQ(one.cols(), 3 * width);
  for (Index k = 0; k < 3; ++k)
    EXPECT_LT((one.middleCols(k * width, width).rowwise().sum() - scores.col(k)).cwiseAbs().maxCoeff(), 1e-12);
  for (const int threads : {2, 7}) EXPECT_EQ(tree_contributions(model, columns, x, Context({.threads = threads})), one);
  const Matrix last = rows.bottomRows(3);
  EXPECT_EQ(tree_contributions(model, columns, Features::dense(last), Context({.threads = 1})), one.bottomRows(3));
}

TEST(TreeContributions, StayExactOnPathsOfHundredsOfColumns) {
  constexpr Index depth = 300;
  // One leaf has the value 1: that of the rows whose columns are all above 0. Half of the rows of training leave the
  // path at every node.
  DecisionTree tree;
  for (Index k = 0; k < depth; ++k) {
    const auto number = static_cast<std::int32_t>(k);
    tree.nodes.push_back({.feature = k, .left = -number - 1, .right = k + 1 < depth ? number + 1 : -number - 2});
    tree.value.push_back(0);
    tree.cover.push_back(std::ldexp(1.0, -static_cast<int>(k) - 1));
  }
  tree.value.push_back(1);
  tree.cover.push_back(tree.cover.back());
  const BoostedTrees model{.start = Vector::Zero(1), .trees = {tree}};
  Matrix x = Matrix::Ones(2, depth);
  x(1, 123) = -1;
  const Matrix ours =
      tree_contributions(model, std::vector<TreeColumn>(at(depth)), Features::dense(x), Context({.threads = 1}));
  // All columns are alike in the first row; in the second one of them takes away what the others give.
  const double part = 1.0 / depth;
  for (Index j = 0; j < depth; ++j) {
    EXPECT_NEAR(ours(0, j), part, 1e-13 * part);
    EXPECT_NEAR(ours(1, j), j == 123 ? -part : part / (depth - 1), 1e-13 * part);
  }
}

TEST(TreeContributions, NeedTheRowsOfTheLeaves) {
  Random random(9, "contributions-test");
  BoostedTrees model{.start = Vector::Zero(1), .trees = {random_tree(3, 4, random)}};
  model.trees[0].cover.clear();
  const auto ask = [&] {
    tree_contributions(model, columns_with_levels(2, 4), Features::dense(random_rows(2, 3, random)),
                       Context({.threads = 1}));
  };
  EXPECT_THROW(ask(), Error);
}

}  // namespace trees_test
}  // namespace ecotone::test
