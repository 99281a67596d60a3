#include "ecotone/solve/trees/contributions.h"

#include <algorithm>
#include <cstdint>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/solve/trees/leaf_game.h"

namespace ecotone {

namespace {

constexpr Index rows_of_word = 64;
/// A path with so few columns has so few patterns of columns that lead a row to its leaf that each is computed once.
constexpr Index tabled_columns = 10;

/// Where a node or a leaf hangs, and its share of its parent's rows.
struct TreeBranch {
  std::int32_t parent = -1;
  bool left = false;
  double share = 1;
};

struct TreeBranches {
  std::vector<TreeBranch> node, leaf;
  double mean = 0;  ///< of the leaves, by their rows

  explicit TreeBranches(const DecisionTree& tree) : node(tree.nodes.size()), leaf(tree.value.size()) {
    std::vector<double> rows(tree.nodes.size()), reach(tree.nodes.size(), 1.0);
    const auto rows_of = [&](std::int32_t place) { return place < 0 ? tree.cover[at(-place - 1)] : rows[at(place)]; };
    // Children stand behind their nodes.
    for (std::size_t k = tree.nodes.size(); k-- > 0;)
      rows[k] = rows_of(tree.nodes[k].left) + rows_of(tree.nodes[k].right);
    if (tree.nodes.empty()) mean = tree.value[0];
    for (std::size_t k = 0; k < tree.nodes.size(); ++k)
      for (const bool left : {true, false}) {
        const std::int32_t place = left ? tree.nodes[k].left : tree.nodes[k].right;
        const double share = rows[k] > 0 ? rows_of(place) / rows[k] : 0.5;
        (place < 0 ? leaf[at(-place - 1)] : node[at(place)]) = {static_cast<std::int32_t>(k), left, share};
        if (place < 0)
          mean += tree.value[at(-place - 1)] * (reach[k] * share);
        else
          reach[at(place)] = reach[k] * share;
      }
  }
};

/// The contributions to one block of rows, tree after tree. Rows are bits of words.
class BlockContributions {
 public:
  BlockContributions(const RowBlock& block, const std::vector<TreeColumn>& columns)
      : x_(block.x),
        columns_(columns),
        category_(columns.size()),
        words_((block.x.rows() + rows_of_word - 1) / rows_of_word) {
    for (std::size_t j = 0; j < columns.size(); ++j)
      if (columns[j].categorical)
        for (const double value : x_.col(static_cast<Index>(j))) category_[j].push_back(columns[j].code(value));
  }

  /// Adds those of a tree to `out`, a row for every row and a column for every column.
  void add(const DecisionTree& tree, MatrixView out) {
    const TreeBranches branches(tree);
    find_left(tree);
    for (std::size_t l = 0; l < tree.value.size(); ++l) {
      follow(tree, branches, branches.leaf[l]);
      if (path_.empty()) continue;
      game_.set(share_, tree.value[l]);
      if (std::ssize(path_) <= tabled_columns)
        add_from_table(out);
      else
        add_row_by_row(out);
    }
  }

 private:
  ConstMatrixMap x_;
  const std::vector<TreeColumn>& columns_;
  std::vector<std::vector<std::uint8_t>> category_;  ///< codes of the rows in columns of categories
  Index words_;
  std::vector<std::uint64_t> left_;    ///< of each node: which rows go left
  std::vector<Index> path_;            ///< the columns on the way to a leaf, each once
  std::vector<double> share_;          ///< of the rows that pass all nodes of the column
  std::vector<std::uint64_t> passes_;  ///< of each column: which rows pass all its nodes
  LeafGame game_;
  std::vector<double> table_, terms_;
  std::vector<std::uint8_t> known_, passed_;

  void find_left(const DecisionTree& tree) {
    left_.assign(tree.nodes.size() * at(words_), 0);
    for (std::size_t k = 0; k < tree.nodes.size(); ++k) {
      const TreeNode& node = tree.nodes[k];
      const TreeColumn& column = columns_[at(node.feature)];
      std::uint64_t* word = left_.data() + k * at(words_);
      const std::vector<std::uint8_t>& code = category_[at(node.feature)];
      for (Index i = 0; i < x_.rows(); ++i) {
        const bool left = code.empty() ? node.goes_left(x_(i, node.feature), column) : node.goes_left(code[at(i)]);
        word[i / rows_of_word] |= std::uint64_t{left} << (i % rows_of_word);
      }
    }
  }

  void follow(const DecisionTree& tree, const TreeBranches& branches, TreeBranch branch) {
    path_.clear();
    share_.clear();
    passes_.clear();
    for (; branch.parent >= 0; branch = branches.node[at(branch.parent)]) {
      const Index feature = tree.nodes[at(branch.parent)].feature;
      const Index place = std::find(path_.begin(), path_.end(), feature) - path_.begin();
      if (place == std::ssize(path_)) {
        path_.push_back(feature);
        share_.push_back(1);
        passes_.resize(passes_.size() + at(words_), ~std::uint64_t{0});
      }
      share_[at(place)] *= branch.share;
      const std::uint64_t* word = left_.data() + branch.parent * words_;
      for (Index w = 0; w < words_; ++w) passes_[at(place * words_ + w)] &= branch.left ? word[w] : ~word[w];
    }
  }

  bool passes(Index column, Index row) const {
    return (passes_[at(column * words_ + row / rows_of_word)] >> (row % rows_of_word) & 1) != 0;
  }

  void add_terms(const double* terms, Index row, MatrixView out) const {
    double* own = &out(row, 0);
    for (std::size_t j = 0; j < path_.size(); ++j) own[path_[j]] += terms[j];
  }

  void add_from_table(MatrixView out) {
    const Index count = std::ssize(path_);
    known_.assign(std::size_t{1} << count, 0);
    table_.resize(known_.size() * at(count));
    passed_.resize(at(count));
    for (Index i = 0; i < out.rows(); ++i) {
      std::size_t pattern = 0;
      for (Index j = 0; j < count; ++j) pattern |= std::size_t{passes(j, i)} << j;
      double* terms = table_.data() + pattern * at(count);
      if (known_[pattern] == 0) {
        for (Index j = 0; j < count; ++j) passed_[at(j)] = pattern >> j & 1;
        game_.values(passed_, terms);
        known_[pattern] = 1;
      }
      add_terms(terms, i, out);
    }
  }

  void add_row_by_row(MatrixView out) {
    passed_.resize(path_.size());
    terms_.resize(path_.size());
    for (Index i = 0; i < out.rows(); ++i) {
      for (std::size_t j = 0; j < path_.size(); ++j) passed_[j] = passes(static_cast<Index>(j), i);
      game_.values(passed_, terms_.data());
      add_terms(terms_.data(), i, out);
    }
  }
};

/// The mean score of training by output, as the covers say it.
Vector mean_scores(const BoostedTrees& model) {
  Vector mean = model.start;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const DecisionTree& tree = model.trees[t];
    if (tree.cover.size() != tree.value.size()) internal_error("trees: tree {} has no rows in its leaves", t + 1);
    mean[static_cast<Index>(t) % model.outputs] += TreeBranches(tree).mean;
  }
  return mean;
}

}  // namespace

Matrix tree_contributions(const BoostedTrees& model, const std::vector<TreeColumn>& columns, const Features& x,
                          const Context& context) {
  const Index width = x.cols() + 1;
  require_memory(at(x.rows()) * at(width * model.outputs) * sizeof(double), "trees",
                 "a number for every value of the rows and every score", "ask for the contributions of fewer rows");
  const Vector mean = mean_scores(model);
  Matrix result(x.rows(), width * model.outputs);
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    auto own = result.middleRows(block.first, block.x.rows());
    own.setZero();
    BlockContributions contributions(block, columns);
    for (std::size_t t = 0; t < model.trees.size(); ++t)
      contributions.add(model.trees[t], own.middleCols(static_cast<Index>(t) % model.outputs * width, x.cols()));
    for (Index k = 0; k < model.outputs; ++k) own.col((k + 1) * width - 1).setConstant(mean[k]);
  });
  return result;
}

}  // namespace ecotone
