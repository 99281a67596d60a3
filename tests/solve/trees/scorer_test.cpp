// Scores of many rows at once against walking every tree.
#include "ecotone/solve/trees/scorer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/random.h"

namespace ecotone::test {
namespace scorer_test {

constexpr Index features = 6, category_feature = 5, levels = 40;

std::vector<TreeColumn> columns_with_categories() {
  std::vector<TreeColumn> columns(features);
  columns[category_feature].categorical = true;
  std::vector<double> own;
  for (Index k = 0; k < levels; ++k) own.push_back(static_cast<double>(7 * k % levels));
  columns[category_feature].level = TreeLevels(std::move(own));
  return columns;
}

/// One of `distinct` thresholds from -2 to 2, at times an infinite one.
double drawn_threshold(Random& random, Index distinct) {
  if (random.uniform() < 0.03) return random.uniform() < 0.5 ? HUGE_VAL : -HUGE_VAL;
  return 4 * std::floor(random.uniform() * static_cast<double>(distinct)) / static_cast<double>(distinct) - 2;
}

/// A tree of any shape: leaves that are drawn are split, as growing does it.
DecisionTree drawn_tree(Random& random, Index leaves, Index distinct) {
  struct Open {
    std::int32_t node;
    bool is_left;
  };
  DecisionTree tree;
  std::vector<Open> open{{-1, false}};
  while (std::ssize(open) < leaves) {
    const auto chosen = static_cast<std::size_t>(random.uniform() * static_cast<double>(open.size()));
    TreeNode node;
    node.feature = static_cast<Index>(random.uniform() * features);
    node.categorical = node.feature == category_feature;
    node.threshold = drawn_threshold(random, distinct);
    node.missing_left = random.uniform() < 0.5;
    for (int code = 0; code < levels; ++code)
      if (random.uniform() < 0.5) add_level(node.levels, code);
    node.left = -static_cast<std::int32_t>(chosen) - 1;
    node.right = -static_cast<std::int32_t>(open.size()) - 1;
    const auto number = static_cast<std::int32_t>(tree.nodes.size());
    const Open above = open[chosen];
    if (above.node >= 0) (above.is_left ? tree.nodes[at(above.node)].left : tree.nodes[at(above.node)].right) = number;
    tree.nodes.push_back(node);
    open[chosen] = {number, true};
    open.push_back({number, false});
  }
  for (Index l = 0; l < leaves; ++l) tree.value.push_back(random.normal());
  return tree;
}

Matrix drawn_rows(Random& random, Index rows, Index distinct) {
  Matrix x(rows, features);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < features; ++j) {
      const double kind = random.uniform();
      if (kind < 0.1)
        x(i, j) = std::nan("");
      else if (j == category_feature)
        x(i, j) = std::floor(random.uniform() * (levels + 3));  // some were never seen
      else if (kind < 0.5)
        x(i, j) = drawn_threshold(random, distinct);
      else
        x(i, j) = random.normal();
    }
  return x;
}

Matrix walked_scores(const BoostedTrees& model, const std::vector<TreeColumn>& columns, const Matrix& x) {
  Matrix scores = model.start.transpose().replicate(x.rows(), 1);
  for (std::size_t t = 0; t < model.trees.size(); ++t)
    for (Index i = 0; i < x.rows(); ++i) {
      const std::int32_t leaf = model.trees[t].leaf_of([&](const TreeNode& node) {
        const double value = x(i, node.feature);
        if (node.categorical) return node.goes_left(columns[at(node.feature)].code(value));
        return std::isnan(value) ? node.missing_left : value <= node.threshold;
      });
      scores(i, static_cast<Index>(t) % model.outputs) += model.trees[t].value[at(leaf)];
    }
  return scores;
}

void expect_walked(const std::vector<Index>& leaves, Index outputs, Index distinct) {
  Random random(5, "scorer-test");
  BoostedTrees model;
  model.outputs = outputs;
  model.start = Vector::Constant(outputs, 0.1);
  for (const Index count : leaves)
    for (Index k = 0; k < outputs; ++k) model.trees.push_back(drawn_tree(random, count, distinct));
  const std::vector<TreeColumn> columns = columns_with_categories();
  for (const Index rows : {1, 127, 512, 1300}) {
    const Matrix x = drawn_rows(random, rows, distinct);
    const Matrix wanted = walked_scores(model, columns, x);
    for (const int threads : {1, 3})
      EXPECT_EQ(TreeScorer(model, columns, rows).scores(Features::dense(x), Context({.threads = threads})), wanted)
          << rows;
  }
}

TEST(TreeScorer, GivesTheBytesOfWalkingTreesOfAnySize) { expect_walked({1, 2, 8, 9, 31, 64, 255, 256}, 1, 100); }

TEST(TreeScorer, KeepsTheOutputsOfARoundApart) { expect_walked({1, 15, 31, 8}, 3, 50); }

TEST(TreeScorer, WalksLargerTreesBetweenOthers) { expect_walked({31, 257, 9, 700, 31}, 2, 60); }

TEST(TreeScorer, WalksIfAByteIsNotEnoughForTheThresholds) {
  expect_walked(std::vector<Index>(12, Index{200}), 1, 5000);
}

TEST(CodeTable, CountsTheNumbersBelow) {
  for (const Index count : {0, 1, 2, 3, 127, 128, 254}) {
    std::vector<double> numbers;
    for (Index k = 0; k < count; ++k) numbers.push_back(k == 0 ? -HUGE_VAL : static_cast<double>(k));
    const CodeTable table(numbers);
    for (Index k = 0; k < count; ++k) {
      EXPECT_EQ(table.code(numbers[at(k)]), k);
      EXPECT_EQ(table.code(static_cast<double>(k) + 0.5), k + 1);
    }
    EXPECT_EQ(table.code(HUGE_VAL), count);
    EXPECT_EQ(table.code(-HUGE_VAL), 0);
    EXPECT_EQ(table.code(std::nan("")), missing_bin);
  }
}

}  // namespace scorer_test
}  // namespace ecotone::test
