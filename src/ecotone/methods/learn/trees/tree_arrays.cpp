#include "ecotone/methods/learn/trees/tree_arrays.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ecotone/base/error.h"

namespace ecotone {

namespace {

/// Bits of `flags`. Infinite thresholds are flags, because arrays hold finite numbers.
constexpr int missing_left_flag = 1, categorical_flag = 2, infinite_flag = 4, negative_flag = 8;
constexpr int all_flags = missing_left_flag + categorical_flag + infinite_flag + negative_flag;

int flags_of(const TreeNode& node) {
  return (node.missing_left ? missing_left_flag : 0) + (node.categorical ? categorical_flag : 0) +
         (std::isinf(node.threshold) ? infinite_flag + (node.threshold < 0 ? negative_flag : 0) : 0);
}
double threshold_of(std::int64_t flags, double threshold) {
  if ((flags & infinite_flag) == 0) return threshold;
  return (flags & negative_flag) != 0 ? -HUGE_VAL : HUGE_VAL;
}
constexpr Index set_bytes = 32;                   // of the levels of a set, a bit for each
constexpr double most_rows = 9007199254740992.0;  // 2^53

/// Whole numbers between bounds.
std::vector<std::int64_t> whole_numbers(const StageState& state, const char* name, Index size, double low,
                                        double high) {
  const Vector values = state.vector(name, size);
  std::vector<std::int64_t> result;
  for (const double value : values) {
    if (!(value >= low && value <= high) || value != std::trunc(value))
      file_error("bad_model", "array '{}' must hold whole numbers from {} to {}, not {}", name, low, high, value);
    result.push_back(static_cast<std::int64_t>(value));
  }
  return result;
}

/// Where each tree begins in arrays of `total` entries: from 0 on, ascending.
std::vector<std::int64_t> firsts(const StageState& state, const char* name, Index size, Index total) {
  std::vector<std::int64_t> first = whole_numbers(state, name, size, 0, static_cast<double>(total));
  bool ascending = !first.empty() && first.front() == 0 && first.back() == total;
  for (std::size_t t = 1; t < first.size(); ++t) ascending = ascending && first[t - 1] <= first[t];
  if (!ascending) file_error("bad_model", "array '{}' must ascend from 0 to {}", name, total);
  return first;
}

/// Every node but the first and every leaf must be met exactly once, and children after their node: a tree.
void require_tree(const DecisionTree& tree, std::size_t number) {
  const auto nodes = std::ssize(tree.nodes), leaves = std::ssize(tree.value);
  if (leaves != nodes + 1)
    file_error("bad_model", "tree {} has {} nodes and {} leaves, which must be one more", number + 1, nodes, leaves);
  std::vector<char> node_met(at(nodes), 0), leaf_met(at(leaves), 0);
  for (Index k = 0; k < nodes; ++k) {
    for (const std::int32_t child : {tree.nodes[at(k)].left, tree.nodes[at(k)].right}) {
      const Index place = child < 0 ? -Index{child} - 1 : Index{child};
      const bool in_range = child < 0 ? place < leaves : place > k && place < nodes;
      if (!in_range) file_error("bad_model", "tree {}, node {}: child {} is out of range", number + 1, k + 1, child);
      char& met = child < 0 ? leaf_met[at(place)] : node_met[at(place)];
      if (met != 0) file_error("bad_model", "tree {}, node {}: child {} has another parent", number + 1, k + 1, child);
      met = 1;
    }
  }
}

void read_levels(const StageState& state, Index cols, std::vector<TreeColumn>& columns) {
  const auto first = firsts(state, "level_first", cols + 1, state.vector("level", -1).size());
  const Vector level = state.vector("level", -1);
  const auto categorical = whole_numbers(state, "categorical", cols, 0, 1);
  for (Index j = 0; j < cols; ++j) {
    TreeColumn& column = columns[at(j)];
    column.categorical = categorical[at(j)] != 0;
    const auto begin = first[at(j)], end = first[at(j) + 1];
    if (end - begin > most_tree_bins) file_error("bad_model", "column {} has {} categories", j + 1, end - begin);
    std::vector<double> levels(level.begin() + begin, level.begin() + end);
    std::ranges::sort(levels);
    if (std::ranges::adjacent_find(levels) != levels.end())
      file_error("bad_model", "column {} has a category twice", j + 1);
    column.level = TreeLevels({level.begin() + begin, level.begin() + end});
  }
}

}  // namespace

void write_trees(const std::vector<DecisionTree>& trees, const std::vector<TreeColumn>& columns, StageState& state) {
  std::vector<double> tree_first{0}, leaf_first{0}, feature, threshold, flags, left, right, gain, value, cover, sets;
  for (const DecisionTree& tree : trees) {
    for (const TreeNode& node : tree.nodes) {
      feature.push_back(static_cast<double>(node.feature));
      threshold.push_back(std::isinf(node.threshold) ? 0 : node.threshold);
      flags.push_back(flags_of(node));
      left.push_back(node.left);
      right.push_back(node.right);
      gain.push_back(node.gain);
      if (!node.categorical) continue;
      for (Index byte = 0; byte < set_bytes; ++byte)
        sets.push_back(static_cast<double>(node.levels[at(byte / 8)] >> (8 * (byte % 8)) & 0xffU));
    }
    value.insert(value.end(), tree.value.begin(), tree.value.end());
    cover.insert(cover.end(), tree.cover.begin(), tree.cover.end());
    tree_first.push_back(static_cast<double>(feature.size()));
    leaf_first.push_back(static_cast<double>(value.size()));
  }
  std::vector<double> level, level_first{0}, categorical;
  for (const TreeColumn& column : columns) {
    level.insert(level.end(), column.level.by_code().begin(), column.level.by_code().end());
    level_first.push_back(static_cast<double>(level.size()));
    categorical.push_back(column.categorical ? 1 : 0);
  }
  const auto set = [&](const char* name, std::vector<double>& values, DType type) {
    const Index size = std::ssize(values);
    state.set(name, {{size}, std::move(values), type});
  };
  set("tree_first", tree_first, DType::f64);
  set("leaf_first", leaf_first, DType::f64);
  set("feature", feature, DType::i32);
  set("threshold", threshold, DType::f64);
  set("flags", flags, DType::u8);
  set("left", left, DType::i32);
  set("right", right, DType::i32);
  set("gain", gain, DType::f64);
  set("value", value, DType::f64);
  set("cover", cover, DType::f64);
  set("level_set", sets, DType::u8);
  set("level", level, DType::f64);
  set("level_first", level_first, DType::i32);
  set("categorical", categorical, DType::u8);
}

TreeArrays read_trees(const StageState& state, Index cols) {
  TreeArrays arrays;
  arrays.columns.resize(at(cols));
  read_levels(state, cols, arrays.columns);
  constexpr double many = std::numeric_limits<std::int32_t>::max();
  const Vector threshold = state.vector("threshold", -1), value = state.vector("value", -1);
  const Index nodes = threshold.size(), leaves = value.size();
  const auto tree_first = firsts(state, "tree_first", -1, nodes);
  const auto leaf_first = firsts(state, "leaf_first", std::ssize(tree_first), leaves);
  const auto feature = whole_numbers(state, "feature", nodes, 0, static_cast<double>(cols - 1));
  const auto flags = whole_numbers(state, "flags", nodes, 0, all_flags);
  if (std::ranges::any_of(flags, [](std::int64_t f) { return (f & negative_flag) != 0 && (f & infinite_flag) == 0; }))
    file_error("bad_model", "array 'flags' has a sign for a threshold that is not infinite");
  const auto left = whole_numbers(state, "left", nodes, -many, many);
  const auto right = whole_numbers(state, "right", nodes, -many, many);
  const Vector gain = state.vector("gain", nodes);
  const auto cover = whole_numbers(state, "cover", leaves, 1, most_rows);
  const auto sets = whole_numbers(state, "level_set", -1, 0, 255);
  std::size_t next_set = 0;
  for (std::size_t t = 0; t + 1 < tree_first.size(); ++t) {
    DecisionTree tree;
    for (auto k = at(tree_first[t]); k < at(tree_first[t + 1]); ++k) {
      TreeNode node;
      node.feature = feature[k];
      node.missing_left = (flags[k] & missing_left_flag) != 0;
      node.categorical = (flags[k] & categorical_flag) != 0;
      const auto place = static_cast<Index>(k);
      node.threshold = threshold_of(flags[k], threshold[place]);
      node.left = static_cast<std::int32_t>(left[k]);
      node.right = static_cast<std::int32_t>(right[k]);
      node.gain = node.score = gain[place];
      if (node.categorical) {
        if (sets.size() < next_set + at(set_bytes)) file_error("bad_model", "array 'level_set' is too short");
        for (Index byte = 0; byte < set_bytes; ++byte)
          node.levels[at(byte / 8)] |= static_cast<std::uint64_t>(sets[next_set++]) << (8 * (byte % 8));
      }
      if (node.categorical != arrays.columns[at(node.feature)].categorical)
        file_error("bad_model", "tree {} splits column {} as if it had {}", t + 1, node.feature + 1,
                   node.categorical ? "categories" : "numbers");
      tree.nodes.push_back(node);
    }
    const auto first = leaf_first[t], last = leaf_first[t + 1];
    tree.value.assign(value.begin() + first, value.begin() + last);
    for (auto l = first; l < last; ++l) tree.cover.push_back(static_cast<double>(cover[at(l)]));
    require_tree(tree, t);
    arrays.trees.push_back(std::move(tree));
  }
  if (next_set != sets.size()) file_error("bad_model", "array 'level_set' is too long");
  return arrays;
}

}  // namespace ecotone
