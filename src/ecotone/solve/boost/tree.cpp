#include "ecotone/solve/boost/tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/solve/boost/codes.h"
#include "ecotone/solve/boost/loops.h"
#include "ecotone/solve/boost/rows.h"

namespace ecotone {

Vector tree_votes(std::span<const BoostTree> trees, std::span<const double> weights, const Features& x,
                  const Context& context) {
  Vector result(x.rows());
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) {
      double sum = 0;
      for (std::size_t n = 0; n < trees.size(); ++n) sum += weights[n] * trees[n].side(block.x.row(i).data());
      result[block.first + i] = sum;
    }
  });
  return result;
}

namespace {

constexpr std::size_t most_leaves = std::size_t{1} << boost_most_depth;

/// The data shared by all runs: bins of all values, one byte each.
struct TreeTable : BoostTable {
  std::vector<BinEdges> edges;
  std::vector<std::uint8_t> source, target;  ///< column after column
  Index sources, targets;
  std::vector<double> y, first, first_target;  ///< padded
  double gamma, total;
  int depth;

  TreeTable(const BoostData& data, BoostBins bins, int depth_, const Context& context)
      : edges(bin_edges(data.source, data.target, bins, context)),
        sources(data.source.rows()),
        targets(data.target.rows()),
        y(data.y.begin(), data.y.end()),
        first(static_cast<std::size_t>(padded(sources)), 0),
        first_target(static_cast<std::size_t>(padded(targets)), 0),
        gamma(data.gamma),
        total(data.total),
        depth(depth_) {
    std::vector<std::uint8_t> none;
    bin_codes(data.source, edges, {}, source, none, context);
    bin_codes(data.target, edges, {}, target, none, context);
    for (std::size_t i = 0; i < y.size(); ++i) first[i] = data.weight_of(i);
    std::fill(first_target.begin(), first_target.begin() + targets, 1.0);
  }

  std::unique_ptr<BoostRows> start() const override;
  bool runs_side_by_side() const override { return true; }
};

/// Weights and margins of one domain: D = first exp(-margin), up to a factor.
struct Weights : PaddedWeights {
  double sum = 0, least = 0;

  Weights(const std::vector<double>& first, Index rows) : PaddedWeights(first, rows) {
    for (const double w : first) sum += w;
  }
  /// Recomputes the weights from the current margins; returns ln Z.
  double renew(const std::vector<double>& first, Index rows) {
    const double before = std::log(sum) - least;
    least = *std::min_element(margin.begin(), margin.begin() + rows);
    sum = weights_of_margins(first.data(), margin.data(), least, weight.data(), std::ssize(weight));
    return std::log(sum) - least - before;
  }
};

/// Weights of the classes in a node or leaf.
struct SplitPair {
  double up = 0, down = 0;
};

/// A tree with the bins of its thresholds: codes above `bin` go to the second child.
struct CodedTree {
  BoostTree tree;
  std::vector<int> bin;
};

class BoostTreeRows : public BoostRows {
 public:
  explicit BoostTreeRows(const TreeTable& table)
      : table_(table), source_(table.first, table.sources), target_(table.first_target, table.targets) {
    for (const BinEdges& e : table.edges) {
      low_.push_back(e.low);
      high_.push_back(e.high);
      if (!e.edge.empty()) splittable_.push_back(std::ssize(low_) - 1);
    }
  }

  double nearest_threshold(Index, double theta) const override { return theta; }
  bool has_trees() const override { return true; }
  void forget() override { trees_.clear(); }
  StumpCandidate draw(Random& random) override;
  const BoostTree& tree(Index number) const override { return trees_[at(number)].tree; }
  void masses(std::span<const Stump> stumps, std::span<StumpMasses> result, const Context&) override;
  StumpCandidate best_split(const Context& context) override;
  UpdateSums update(const BoostStep& step, const Context&) override;
  void project(const Stump& stump, double weight, Projected& p, const Context&) const override;
  Vector source_weight() const override { return source_.normalised(table_.sources); }
  Vector target_weight() const override { return table_.targets == 0 ? Vector() : target_.normalised(table_.targets); }

 private:
  std::size_t nodes() const { return (std::size_t{1} << static_cast<unsigned>(table_.depth)) - 1; }
  CodedTree blank() const {
    // Nodes that are not split send all codes to the first side.
    CodedTree coded;
    coded.tree.node.assign(nodes(), {0, std::numeric_limits<double>::max()});
    coded.bin.assign(nodes(), boost_bin_count);
    coded.tree.value.assign(nodes() + 1, 0);
    coded.tree.sign.assign(nodes() + 1, 1);
    return coded;
  }
  void split(CodedTree& coded, std::size_t node, Index attribute, int bin) const {
    coded.tree.node[node] = {attribute, table_.edges[at(attribute)].edge[at(bin)]};
    coded.bin[node] = bin;
  }
  /// The node of a row after `levels` levels, counted from 0 within that level.
  static std::size_t place(const CodedTree& coded, const std::uint8_t* codes, Index rows, Index i, int levels) {
    std::size_t k = 0;
    for (int level = 0; level < levels; ++level)
      k = 2 * k + (codes[coded.tree.node[k].attribute * rows + i] > coded.bin[k] ? 2 : 1);
    return k - ((std::size_t{1} << static_cast<unsigned>(levels)) - 1);
  }
  void set_values(CodedTree& coded, StumpMasses& m) const;
  /// Best splits of all nodes of a level on one attribute.
  struct Split {
    double gain = 0;
    int bin = -1;
  };
  std::vector<Split> best_splits(Index attribute, const std::vector<std::uint8_t>& node_of, std::size_t width) const;

  const TreeTable& table_;
  Weights source_, target_;
  std::vector<Index> splittable_;
  std::vector<CodedTree> trees_;
};

std::unique_ptr<BoostRows> TreeTable::start() const { return std::make_unique<BoostTreeRows>(*this); }

/// Draws a random attribute and a random edge inside the node's box, node by node.
StumpCandidate BoostTreeRows::draw(Random& random) {
  CodedTree coded = blank();
  using Box = std::vector<std::pair<int, int>>;  // least and largest bin of every attribute
  std::vector<Box> boxes(2 * nodes() + 1);
  for (const BinEdges& e : table_.edges) boxes[0].emplace_back(0, static_cast<int>(e.edge.size()));
  for (std::size_t k = 0; k < nodes(); ++k) {
    boxes[2 * k + 1] = boxes[2 * k + 2] = boxes[k];
    const Index j = splittable_[random.below(splittable_.size())];
    const auto [low, high] = boxes[k][at(j)];
    if (low == high) continue;
    const int bin = low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low)));
    split(coded, k, j, bin);
    boxes[2 * k + 1][at(j)].second = bin;
    boxes[2 * k + 2][at(j)].first = bin + 1;
  }
  trees_.push_back(std::move(coded));
  return {std::ssize(trees_) - 1, 0};
}

/// value = (D+ - D-) / (D+ + D-) of the source in every leaf, 0 for a leaf without rows; and the masses of the tree. A
/// leaf with value 0 has the sign of the nearest node above it with more of one class, else of the class of the first
/// row, so that no class is favoured.
void BoostTreeRows::set_values(CodedTree& coded, StumpMasses& m) const {
  std::array<SplitPair, 2 * most_leaves - 1> all{};  // nodes, then leaves
  for (Index i = 0; i < table_.sources; ++i) {
    SplitPair& pair = all[nodes() + place(coded, table_.source.data(), table_.sources, i, table_.depth)];
    const auto k = static_cast<std::size_t>(i);
    (table_.y[k] > 0 ? pair.up : pair.down) += source_.weight[k];
  }
  for (std::size_t k = 2 * nodes(); k > 0; --k) {
    all[(k - 1) / 2].up += all[k].up;
    all[(k - 1) / 2].down += all[k].down;
  }
  for (std::size_t l = 0; l < coded.tree.value.size(); ++l) {
    const SplitPair& pair = all[nodes() + l];
    const double sum = pair.up + pair.down;
    coded.tree.value[l] = sum > 0 ? (pair.up - pair.down) / sum : 0;
    std::size_t k = nodes() + l;
    while (k > 0 && all[k].up == all[k].down) k = (k - 1) / 2;
    coded.tree.sign[l] = all[k].up == all[k].down ? table_.y[0] : (all[k].up > all[k].down ? 1 : -1);
    m.right += std::max(pair.up, pair.down);
    m.wrong += std::min(pair.up, pair.down);
  }
  for (Index i = 0; i < table_.targets; ++i) {
    const double h = coded.tree.value[place(coded, table_.target.data(), table_.targets, i, table_.depth)];
    (std::abs(h) <= table_.gamma ? m.inside : m.outside) += target_.weight[at(i)];
  }
}

void BoostTreeRows::masses(std::span<const Stump> stumps, std::span<StumpMasses> result, const Context&) {
  for (std::size_t k = 0; k < stumps.size(); ++k) set_values(trees_[at(stumps[k].attribute)], result[k]);
}

UpdateSums BoostTreeRows::update(const BoostStep& step, const Context&) {
  const CodedTree& coded = trees_[at(step.stump.attribute)];
  UpdateSums result;
  for (Index i = 0; i < table_.sources; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double side = coded.tree.sign[place(coded, table_.source.data(), table_.sources, i, table_.depth)];
    double& margin = source_.margin[k];
    margin += side * table_.y[k] * step.alpha;
    const double share = table_.first[k] / table_.total;
    result.err += margin <= 0 ? share : 0;
    result.margin += margin <= table_.gamma ? share : 0;
    result.margin_normalised += margin <= table_.gamma * step.alpha_sum ? share : 0;
  }
  result.log_z_source = source_.renew(table_.first, table_.sources);
  if (table_.targets == 0) return result;
  for (Index i = 0; i < table_.targets; ++i) {
    const double h = coded.tree.value[place(coded, table_.target.data(), table_.targets, i, table_.depth)];
    double& margin = target_.margin[at(i)];
    margin += std::abs(h) <= table_.gamma ? -step.beta * std::abs(h) : step.beta * std::abs(h);
    result.loss_target += margin < 0 ? 1 / static_cast<double>(table_.targets) : 0;
  }
  result.log_z_target = target_.renew(table_.first_target, table_.targets);
  return result;
}

void BoostTreeRows::project(const Stump& stump, double weight, Projected& p, const Context&) const {
  const CodedTree& coded = trees_[at(stump.attribute)];
  for (Index i = 0; i < table_.sources; ++i)
    p.source[at(i)].first +=
        weight * coded.tree.value[place(coded, table_.source.data(), table_.sources, i, table_.depth)];
  for (Index i = 0; i < table_.targets; ++i)
    p.target[at(i)].first +=
        weight * coded.tree.value[place(coded, table_.target.data(), table_.targets, i, table_.depth)];
}

std::vector<BoostTreeRows::Split> BoostTreeRows::best_splits(Index attribute, const std::vector<std::uint8_t>& node_of,
                                                             std::size_t width) const {
  std::vector<std::array<SplitPair, boost_bin_count>> bins(width);
  const std::uint8_t* code = table_.source.data() + attribute * table_.sources;
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    SplitPair& pair = bins[node_of[i]][code[i]];
    (table_.y[i] > 0 ? pair.up : pair.down) += source_.weight[i];
  }
  // sum over both children of (D+^2 + D-^2) / (D+ + D-): larger if less impurity is left.
  const auto purity = [](const SplitPair& p) {
    const double sum = p.up + p.down;
    return sum > 0 ? (p.up * p.up + p.down * p.down) / sum : 0.0;
  };
  const auto edges = static_cast<int>(table_.edges[at(attribute)].edge.size());
  std::vector<Split> best(width);
  for (std::size_t node = 0; node < width; ++node) {
    SplitPair all, below;
    for (const SplitPair& pair : bins[node]) {
      all.up += pair.up;
      all.down += pair.down;
    }
    // A split must gain more than rounding error.
    best[node].gain = purity(all) + 1e-12 * (all.up + all.down);
    for (int c = 0; c < edges; ++c) {
      below.up += bins[node][at(c)].up;
      below.down += bins[node][at(c)].down;
      const double gain = purity(below) + purity({all.up - below.up, all.down - below.down});
      if (gain > best[node].gain) best[node] = {gain, c};
    }
  }
  return best;
}

/// Level by level, the split of every node that leaves the least impurity.
StumpCandidate BoostTreeRows::best_split(const Context& context) {
  trees_.clear();
  CodedTree coded = blank();
  std::vector<std::uint8_t> node_of(static_cast<std::size_t>(table_.sources), 0);
  for (int level = 0; level < table_.depth; ++level) {
    const std::size_t width = std::size_t{1} << static_cast<unsigned>(level);
    for (Index i = 0; i < table_.sources; ++i)
      node_of[at(i)] = static_cast<std::uint8_t>(place(coded, table_.source.data(), table_.sources, i, level));
    std::vector<std::vector<Split>> found(table_.edges.size());
    context.parallel(cols(), [&](Index j) { found[at(j)] = best_splits(j, node_of, width); });
    for (std::size_t node = 0; node < width; ++node) {
      Split best;
      Index attribute = -1;
      for (Index j = 0; j < cols(); ++j) {
        const Split& s = found[at(j)][node];
        if (s.bin < 0 || s.gain <= best.gain) continue;
        best = s;
        attribute = j;
      }
      if (attribute >= 0) split(coded, width - 1 + node, attribute, best.bin);
    }
  }
  const bool any = std::any_of(coded.bin.begin(), coded.bin.end(), [](int bin) { return bin < boost_bin_count; });
  if (!any) return {-1, 0};
  trees_.push_back(std::move(coded));
  return {0, 0};
}

}  // namespace

std::unique_ptr<BoostTable> make_tree_table(const BoostData& data, BoostBins bins, int depth, int runs,
                                            const Context& context) {
  const auto rows = static_cast<std::size_t>(data.source.rows() + data.target.rows());
  require_memory(rows * static_cast<std::size_t>(data.source.cols() + 16 + 24 * runs), data.who, "boosting trees",
                 "use fewer rows or runs");
  return std::make_unique<TreeTable>(data, bins, depth, context);
}

}  // namespace ecotone
