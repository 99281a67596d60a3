#include "ecotone/solve/trees/scorer.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ecotone {

namespace {

constexpr Index few_rows = 48;       // are walked
constexpr Index coded_at_once = 64;  // rows whose values stay at hand while their columns become codes

}  // namespace

TreeScorer::TreeScorer(const BoostedTrees& model, const std::vector<TreeColumn>& columns, Index rows)
    : model_(model), columns_(columns), struck_(model.trees.size()), category_place_(columns.size(), -1) {
  if (rows < few_rows) return;
  LanePlan plan(model.trees);
  if (!plan.fits()) return;
  plan_ = std::move(plan);
  for (std::size_t t = 0; t < struck_.size(); ++t) {
    if (std::ssize(model.trees[t].value) > most_struck_leaves) continue;
    struck_[t].emplace(model.trees[t], plan_);
    most_sets_ = std::max(most_sets_, std::ssize(struck_[t]->sets()));
    for (const StruckTree::Set& set : struck_[t]->sets())
      if (category_place_[at(set.feature)] < 0) category_place_[at(set.feature)] = categories_++;
  }
}

Matrix TreeScorer::scores(const Features& x, const Context& context) const {
  Matrix scores(x.rows(), model_.outputs);
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    auto own = scores.middleRows(block.first, block.x.rows());
    own.rowwise() = model_.start.transpose();
    TreeLanes lanes(2 * std::ssize(plan_.features()), most_sets_, categories_);
    for (Index first = 0; first < block.x.rows(); first += TreeLanes::rows) {
      const Index rows = std::min(TreeLanes::rows, block.x.rows() - first);
      fill_numbers(block, first, rows, lanes);
      fill_categories(block, first, rows, lanes);
      add_trees(block, first, rows, lanes, own.row(first).data());
    }
  });
  return scores;
}

void TreeScorer::fill_numbers(const RowBlock& block, Index first, Index rows, TreeLanes& lanes) const {
  std::array<std::uint8_t, coded_at_once> codes{};
  for (Index i = 0; i < rows; i += coded_at_once) {
    const Index count = std::min(coded_at_once, rows - i);
    for (Index k = 0; k < std::ssize(plan_.features()); ++k) {
      const Index feature = plan_.features()[at(k)];
      const double* x = block.x.row(first + i).data() + feature;
      plan_.table(feature).codes(x, block.x.outerStride(), count, codes.data());
      LaneCode* right = lanes.lane(2 * k) + i;
      LaneCode* left = lanes.lane(2 * k + 1) + i;
      for (Index r = 0; r < count; ++r) {
        right[r] = lane_code(codes[at(r)]);
        left[r] = lane_code(codes[at(r)] == missing_bin ? 0 : codes[at(r)]);
      }
    }
  }
}

void TreeScorer::fill_categories(const RowBlock& block, Index first, Index rows, TreeLanes& lanes) const {
  for (std::size_t j = 0; j < category_place_.size(); ++j) {
    if (category_place_[j] < 0) continue;
    std::uint8_t* code = lanes.category(category_place_[j]);
    for (Index i = 0; i < rows; ++i) code[i] = columns_[j].code(block.x(first + i, static_cast<Index>(j)));
  }
}

void TreeScorer::fill_sets(const StruckTree& tree, Index rows, TreeLanes& lanes) const {
  for (Index k = 0; k < std::ssize(tree.sets()); ++k) {
    const StruckTree::Set& set = tree.sets()[at(k)];
    const std::uint8_t* code = lanes.category(category_place_[at(set.feature)]);
    LaneCode* lane = lanes.lane(-k - 1);
    for (Index i = 0; i < rows; ++i) lane[i] = set.right[code[i]];
  }
}

void TreeScorer::add_trees(const RowBlock& block, Index first, Index rows, TreeLanes& lanes, double* scores) const {
  for (std::size_t t = 0; t < struck_.size(); ++t) {
    double* own = scores + static_cast<Index>(t) % model_.outputs;
    if (struck_[t]) {
      fill_sets(*struck_[t], rows, lanes);
      struck_[t]->add_to(own, model_.outputs, rows, lanes);
      continue;
    }
    const DecisionTree& tree = model_.trees[t];
    for (Index i = 0; i < rows; ++i)
      own[i * model_.outputs] += tree.value[at(leaf_in(tree, columns_, block, first + i))];
  }
}

std::int32_t leaf_in(const DecisionTree& tree, const std::vector<TreeColumn>& columns, const RowBlock& block, Index i) {
  return tree.leaf_of(
      [&](const TreeNode& node) { return node.goes_left(block.x(i, node.feature), columns[at(node.feature)]); });
}

}  // namespace ecotone
