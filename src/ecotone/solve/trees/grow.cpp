#include "ecotone/solve/trees/grow.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ecotone/solve/trees/divide.h"
#include "ecotone/solve/trees/level_splits.h"

namespace ecotone {

namespace {

constexpr Index divided_at_once = 1 << 14;

/// A leaf while the tree grows: a range of the rows that this rank divides, and what is known of all of its rows.
struct OpenLeaf {
  Index first = 0, last = 0;
  int depth = 0;
  std::int32_t parent = -1;  ///< node
  bool is_left = false;
  GradientHistogram histogram = {};
  GradientSums total = {};
  std::optional<TreeNode> best = {};
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  SplitNode node() const { return {histogram, total, low, high}; }
  Index own_size() const { return last - first; }
  /// How many rows a node sends to the left.
  Index rows_left(const TreeNode& split) const {
    const GradientSums* cells = histogram.column(split.feature);
    Index rows = 0;
    for (int code = 0; code < cells_per_column; ++code)
      if (split.goes_left(static_cast<std::uint8_t>(code))) rows += cells[code].rows;
    return rows;
  }
};

class TreeGrowth {
 public:
  TreeGrowth(const TreeRows& data, const Gradients& gradients, TreeDraw draw, const TreeDomains& domains,
             const TreeOptions& options, const Context& context)
      : data_(data),
        gradients_(gradients),
        options_(options),
        context_(context),
        finder_(data, gradients, options, draw.columns),
        by_domain_(data, gradients, domains, options, draw.columns),
        own_(gradients.rows.own),
        rows_(std::move(draw.rows)) {
    const auto first = std::ranges::lower_bound(rows_, own_.first), last = std::ranges::lower_bound(rows_, own_.last);
    rows_.erase(last, rows_.end());
    rows_.erase(rows_.begin(), first);
    moved_.resize(rows_.size());
  }

  GrownTree grow() {
    OpenLeaf root{.last = std::ssize(rows_)};
    root.histogram = histogram(root);
    root.total = root.histogram.total();
    leaves_.push_back(std::move(root));
    if (options_.shape == TreeShape::symmetric)
      grow_levels();
    else
      grow_leaves();
    return finished();
  }

 private:
  void grow_leaves() {
    find_best(leaves_.front());
    while (std::ssize(leaves_) < options_.leaves) {
      const std::optional<std::size_t> next = next_leaf();
      if (!next) break;
      const std::size_t other = leaves_.size();
      split(*next);
      find_best(leaves_[*next]);
      find_best(leaves_[other]);
    }
  }

  /// As many levels as the leaves have room for, at most `depth`.
  void grow_levels() {
    const LevelSplits splits(data_, options_, finder_, finder_.columns());
    const int room = std::bit_width(static_cast<unsigned>(std::max(options_.leaves, 1))) - 1;
    const int levels = options_.depth > 0 ? std::min(options_.depth, room) : room;
    for (int level = 0; level < levels; ++level) {
      std::vector<SplitNode> nodes;
      for (const OpenLeaf& leaf : leaves_) nodes.push_back(leaf.node());
      std::vector<std::optional<TreeNode>> best = splits.best(nodes, context_);
      if (std::none_of(best.begin(), best.end(), [](const auto& node) { return node.has_value(); })) return;
      for (std::size_t l = 0; l < best.size(); ++l) {
        if (!best[l]) continue;
        leaves_[l].best = std::move(best[l]);
        split(l);
      }
    }
  }

  std::span<const std::uint32_t> rows_of(const OpenLeaf& leaf) const {
    return std::span(rows_).subspan(at(leaf.first), at(leaf.own_size()));
  }

  GradientHistogram histogram(const OpenLeaf& leaf) const {
    return gradients_.rows.divided ? histogram_of_ranks(data_, gradients_, rows_of(leaf), context_)
                                   : histogram_of(data_, gradients_, rows_of(leaf), context_);
  }

  /// A leaf that cannot be split needs its histogram no more.
  void find_best(OpenLeaf& leaf) const {
    if (may_split(leaf)) look_for_best(leaf);
    if (!leaf.best) leaf.histogram.cell = {};
  }

  bool may_split(const OpenLeaf& leaf) const {
    return (options_.depth == 0 || leaf.depth < options_.depth) && leaf.total.rows >= 2 * options_.min_rows;
  }

  void look_for_best(OpenLeaf& leaf) const {
    const SplitNode node = leaf.node();
    if (DomainSplits::needed(options_))
      leaf.best = by_domain_.best(node, rows_of(leaf), context_);
    else if (const std::optional<TreeSplit> found = finder_.best(node, context_))
      leaf.best = finder_.node_of(node, *found);
  }

  /// The leaf whose best split has the largest score, ties to the lower leaf.
  std::optional<std::size_t> next_leaf() const {
    std::optional<std::size_t> next;
    for (std::size_t l = 0; l < leaves_.size(); ++l)
      if (leaves_[l].best && (!next || leaves_[l].best->score > leaves_[*next].best->score)) next = l;
    return next;
  }

  void split(std::size_t chosen) {
    OpenLeaf parent = std::move(leaves_[chosen]);
    const auto number = static_cast<std::int32_t>(tree_.nodes.size());
    TreeNode node = *parent.best;
    node.left = -static_cast<std::int32_t>(chosen) - 1;
    node.right = -static_cast<std::int32_t>(leaves_.size()) - 1;
    if (parent.parent >= 0) {
      TreeNode& above = tree_.nodes[at(parent.parent)];
      (parent.is_left ? above.left : above.right) = number;
    }
    tree_.nodes.push_back(node);
    const Index middle = divide(parent, node);
    OpenLeaf left{.first = parent.first, .last = middle, .depth = parent.depth + 1, .parent = number, .is_left = true};
    OpenLeaf right{.first = middle, .last = parent.last, .depth = parent.depth + 1, .parent = number};
    // The smaller child is summed; what is left of the parent is the other.
    OpenLeaf& small = 2 * parent.rows_left(node) <= parent.total.rows ? left : right;
    OpenLeaf& large = &small == &left ? right : left;
    small.histogram = histogram(small);
    small.total = small.histogram.total();
    large.histogram = std::move(parent.histogram);
    large.histogram.subtract(small.histogram, context_);
    large.total = parent.total - small.total;
    set_bounds(parent, node, left, right);
    leaves_[chosen] = std::move(left);
    leaves_.push_back(std::move(right));
  }

  /// Behind a split of a monotone column, the leaves of one side keep to one side of the middle.
  void set_bounds(const OpenLeaf& parent, const TreeNode& node, OpenLeaf& left, OpenLeaf& right) const {
    left.low = right.low = parent.low;
    left.high = right.high = parent.high;
    const int direction = finder_.direction_of(node.feature);
    const bool only_missing = std::isinf(node.threshold) && node.threshold > 0;  // are on the right
    if (direction == 0 || only_missing) return;
    const double middle =
        (finder_.newton_step(left.total, left.node()) + finder_.newton_step(right.total, right.node())) / 2;
    (direction > 0 ? left : right).high = middle;
    (direction > 0 ? right : left).low = middle;
  }

  /// Puts the rows of a leaf that go left before the others; returns where the others begin.
  Index divide(const OpenLeaf& leaf, const TreeNode& node) {
    const auto part = [&](std::vector<std::uint32_t>& of) {
      return std::span(of).subspan(at(leaf.first), at(leaf.own_size()));
    };
    return leaf.first + divide_rows(part(rows_), part(moved_), data_.codes(node.feature), node, context_);
  }

  GrownTree finished() {
    GrownTree grown;
    for (const OpenLeaf& leaf : leaves_) {
      tree_.value.push_back(options_.rate * finder_.newton_step(leaf.total, leaf.node()));
      if (!options_.monotone.empty()) grown.bounds.emplace_back(leaf.low, leaf.high);
      tree_.cover.push_back(static_cast<double>(leaf.total.rows));
      grown.sums.push_back(leaf.total);
    }
    grown.leaf = leaves_of_rows();
    grown.tree = std::move(tree_);
    return grown;
  }

  /// The leaf of every row of the data. Ranks give each other those of their own rows.
  std::vector<std::int32_t> leaves_of_rows() const {
    constexpr std::int32_t unknown = -1;
    std::vector<std::int32_t> leaf(at(data_.rows), unknown);
    context_.parallel(std::ssize(leaves_), [&](Index l) {
      for (const std::uint32_t r : rows_of(leaves_[at(l)])) leaf[r] = static_cast<std::int32_t>(l);
    });
    const Index own = own_.last - own_.first;
    if (std::ssize(rows_) < own)
      context_.parallel((own + divided_at_once - 1) / divided_at_once, [&](Index b) {
        const Index first = own_.first + b * divided_at_once;
        for (Index i = first; i < std::min(own_.last, first + divided_at_once); ++i)
          if (leaf[at(i)] == unknown)
            leaf[at(i)] =
                tree_.leaf_of([&](const TreeNode& node) { return node.goes_left(data_.codes(node.feature)[i]); });
      });
    if (!gradients_.rows.divided) return leaf;
    if (std::ssize(leaves_) > std::numeric_limits<std::uint8_t>::max()) {
      share_leaves(leaf);
      return leaf;
    }
    std::vector<std::uint8_t> numbers(leaf.begin(), leaf.end());
    share_leaves(numbers);
    leaf.assign(numbers.begin(), numbers.end());
    return leaf;
  }

  template <class Number>
  void share_leaves(std::vector<Number>& leaf) const {
    Ranks& ranks = context_.ranks();
    std::vector<std::size_t> end;  // bytes
    for (int r = 0; r < ranks.size(); ++r)
      end.push_back(at(groups_of_rank(data_.rows, r, ranks.size()).last) * sizeof(Number));
    ranks.share("leaves of rows", at(data_.rows), {reinterpret_cast<char*>(leaf.data()), end.back()}, end);
  }

  const TreeRows& data_;
  const Gradients& gradients_;
  const TreeOptions& options_;
  const Context& context_;
  SplitFinder finder_;
  DomainSplits by_domain_;
  Share own_;                         ///< the rows of the data that this rank divides
  std::vector<std::uint32_t> rows_;   ///< those of a leaf stand together
  std::vector<std::uint32_t> moved_;  ///< while rows are divided
  DecisionTree tree_;
  std::vector<OpenLeaf> leaves_;
};

}  // namespace

GrownTree grow_tree(const TreeRows& data, const Gradients& gradients, TreeDraw draw, const TreeDomains& domains,
                    const TreeOptions& options, const Context& context) {
  return TreeGrowth(data, gradients, std::move(draw), domains, options, context).grow();
}

}  // namespace ecotone
