#include "ecotone/solve/trees/forest.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "ecotone/base/memory.h"
#include "ecotone/base/random.h"

namespace ecotone {

namespace {

/// The rows of one bootstrap sample with their weights.
struct Bootstrap {
  std::vector<std::uint32_t> rows;
  std::vector<double> weight;
};

Bootstrap bootstrap_of(const TreeLabels& labels, bool resample, Random random) {
  const Index n = labels.y.size();
  std::vector<std::uint32_t> in_use;
  for (Index i = 0; i < n; ++i)
    if (labels.weight_of(i) > 0) in_use.push_back(static_cast<std::uint32_t>(i));
  std::vector<std::uint32_t> times(at(n), 0);
  for (std::size_t draw = 0; draw < in_use.size(); ++draw)
    ++times[in_use[resample ? random.below(in_use.size()) : draw]];
  Bootstrap sample;
  for (const std::uint32_t r : in_use) {
    if (times[r] == 0) continue;
    sample.rows.push_back(r);
    sample.weight.push_back(times[r] * labels.weight_of(r));
  }
  return sample;
}

/// A part of a tree that is not grown yet: a range of its rows.
struct OpenPart {
  Index first = 0, last = 0;
  int depth = 0;
  std::int32_t parent = -1;
  bool is_left = false;
};

/// Grows one tree to the end, the left side first.
class FullGrowth {
 public:
  FullGrowth(const TreeRows& data, const Gradients& gradients, const ForestOptions& options, Vector target,
             Vector weight, std::vector<std::uint32_t> rows, Random random)
      : data_(data),
        gradients_(gradients),
        target_(std::move(target)),
        weight_(std::move(weight)),
        options_(options),
        finder_(data, gradients, options.growth),
        random_(std::move(random)),
        rows_(std::move(rows)),
        moved_(rows_.size()),
        order_(data.column.size()) {
    std::iota(order_.begin(), order_.end(), Index{0});
    histogram_.cell.resize(data.column.size() * cells_per_column);
  }

  /// Leaves hold the weighted mean of their rows' targets.
  DecisionTree grow() {
    std::vector<OpenPart> open{{.last = std::ssize(rows_)}};
    while (!open.empty()) {
      const OpenPart part = open.back();
      open.pop_back();
      const GradientSums total = total_of(part);
      const std::optional<TreeNode> node = best_of(part, total);
      if (!node) {
        join(part, -std::ssize(tree_.value) - 1);
        tree_.value.push_back(mean_of(part));
        tree_.cover.push_back(static_cast<double>(part.last - part.first));
        continue;
      }
      const auto number = static_cast<std::int32_t>(tree_.nodes.size());
      join(part, number);
      tree_.nodes.push_back(*node);
      const Index middle = divide(part, *node);
      open.push_back({middle, part.last, part.depth + 1, number, false});
      open.push_back({part.first, middle, part.depth + 1, number, true});
    }
    return std::move(tree_);
  }

 private:
  void join(const OpenPart& part, Index place) {
    if (part.parent < 0) return;
    TreeNode& above = tree_.nodes[at(part.parent)];
    (part.is_left ? above.left : above.right) = static_cast<std::int32_t>(place);
  }

  GradientSums total_of(const OpenPart& part) const {
    GradientSums total;
    for (Index i = part.first; i < part.last; ++i) {
      const Gradients::Row row = gradients_.row[rows_[at(i)]];
      total += GradientSums{row.g, row.h, 1};
    }
    return total;
  }

  /// Of doubles, in the order of the rows: the integers of the gradients are too coarse for an answer.
  double mean_of(const OpenPart& part) const {
    if (same_target(part)) return target_[rows_[at(part.first)]];
    double sum = 0, total = 0;
    for (Index i = part.first; i < part.last; ++i) {
      const std::uint32_t r = rows_[at(i)];
      sum += weight_[r] * target_[r];
      total += weight_[r];
    }
    return sum / total;
  }

  /// Rounding can leave such a part a gain above 0.
  bool same_target(const OpenPart& part) const {
    const auto first = rows_.begin() + part.first, last = rows_.begin() + part.last;
    return std::all_of(first, last, [&](std::uint32_t r) { return target_[r] == target_[*first]; });
  }

  /// The best split of columns that are drawn until there are enough, and one that can be split.
  std::optional<TreeNode> best_of(const OpenPart& part, const GradientSums& total) {
    if (options_.growth.depth > 0 && part.depth >= options_.growth.depth) return std::nullopt;
    if (total.rows < 2 * options_.growth.min_rows || same_target(part)) return std::nullopt;
    const SplitNode node{histogram_, total};
    std::optional<TreeSplit> best;
    for (std::size_t drawn = 0; drawn < order_.size(); ++drawn) {
      if (static_cast<Index>(drawn) >= options_.columns && best) break;
      std::swap(order_[drawn], order_[drawn + random_.below(order_.size() - drawn)]);
      const Index column = order_[drawn];
      fill(part, column);
      const std::optional<TreeSplit> own = finder_.best_of(node, column);
      const bool earlier = own && best && own->gain == best->gain && own->column < best->column;
      if (own && (!best || own->gain > best->gain || earlier)) best = own;
    }
    return best ? std::optional(finder_.node_of(node, *best)) : std::nullopt;
  }

  void fill(const OpenPart& part, Index column) {
    GradientSums* cell = histogram_.cell.data() + column * cells_per_column;
    std::fill(cell, cell + data_.column[at(column)].bins(), GradientSums());
    cell[missing_bin] = {};
    const std::uint8_t* code = data_.codes(column);
    for (Index i = part.first; i < part.last; ++i) {
      const std::uint32_t r = rows_[at(i)];
      cell[code[r]] += GradientSums{gradients_.row[r].g, gradients_.row[r].h, 1};
    }
  }

  Index divide(const OpenPart& part, const TreeNode& node) {
    std::array<std::uint8_t, cells_per_column> left{};
    for (std::size_t code = 0; code < left.size(); ++code) left[code] = node.goes_left(static_cast<std::uint8_t>(code));
    const std::uint8_t* code = data_.codes(node.feature);
    Index to_left = part.first, to_right = 0;
    for (Index i = part.first; i < part.last; ++i) {
      const std::uint32_t r = rows_[at(i)];
      if (left[code[r]] != 0)
        rows_[at(to_left++)] = r;
      else
        moved_[at(to_right++)] = r;
    }
    std::copy(moved_.begin(), moved_.begin() + to_right, rows_.begin() + to_left);
    return to_left;
  }

  const TreeRows& data_;
  const Gradients& gradients_;
  const Vector target_, weight_;
  const ForestOptions& options_;
  SplitFinder finder_;
  Random random_;
  std::vector<std::uint32_t> rows_, moved_;
  std::vector<Index> order_;  ///< of the columns: those that were drawn come first
  GradientHistogram histogram_;
  DecisionTree tree_;
};

/// What output k is the mean of: the label, or whether it is this class.
double target_of(const TreeLabels& labels, Index k, Index i) {
  switch (labels.loss) {
    case TreeLoss::softmax:
      return labels.y[i] == static_cast<double>(k) ? 1 : 0;
    default:
      return labels.y[i];
  }
}

std::size_t bytes_of(const DecisionTree& tree) {
  return tree.nodes.capacity() * sizeof(TreeNode) + (tree.value.capacity() + tree.cover.capacity()) * sizeof(double);
}

DecisionTree grow_one(const TreeRows& data, const TreeLabels& labels, const Bootstrap& sample, Index k,
                      const ForestOptions& options, Random random, const Context& context) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < sample.rows.size(); ++i) {
    sum += sample.weight[i] * target_of(labels, k, sample.rows[i]);
    total += sample.weight[i];
  }
  // Squared errors around the mean: the split that lowers them most is also Gini's.
  const double centre = sum / total;
  Vector target(data.rows), first = Vector::Zero(data.rows), second = Vector::Zero(data.rows);
  for (std::size_t i = 0; i < sample.rows.size(); ++i) {
    const Index r = sample.rows[i];
    target[r] = target_of(labels, k, r);
    first[r] = sample.weight[i] * (centre - target[r]);
    second[r] = sample.weight[i];
  }
  const Gradients gradients = Gradients::of(first, second, context);
  return FullGrowth(data, gradients, options, std::move(target), std::move(second), sample.rows, std::move(random))
      .grow();
}

}  // namespace

BoostedTrees grow_forest(const TreeRows& data, const TreeLabels& labels, const ForestOptions& options,
                         const Context& context) {
  BoostedTrees forest;
  forest.outputs = labels.outputs();
  forest.start = Vector::Zero(forest.outputs);
  forest.trees.resize(at(options.trees * forest.outputs));
  const auto grow = [&](Index t) {
    const auto number = static_cast<std::uint64_t>(t);
    const Bootstrap sample = bootstrap_of(labels, options.bootstrap, context.random("bootstrap", number));
    for (Index k = 0; k < forest.outputs; ++k) {
      const auto of_tree = static_cast<std::uint64_t>(t * forest.outputs + k);
      forest.trees[of_tree] =
          grow_one(data, labels, sample, k, options, context.random("columns of splits", of_tree), context);
    }
  };
  // How large trees become depends on the labels: the first one shows it.
  grow(0);
  std::size_t bytes = 0;
  for (Index k = 0; k < forest.outputs; ++k) bytes += bytes_of(forest.trees[at(k)]);
  require_memory(at(options.trees - 1) * bytes, "forest", "trees grown to the end",
                 "use fewer trees, a larger min_rows or a depth");
  context.parallel(options.trees - 1, [&](Index t) { grow(t + 1); });
  return forest;
}

}  // namespace ecotone
