#pragma once

#include <functional>
#include <vector>

#include "ecotone/solve/trees/grow.h"
#include "ecotone/solve/trees/loss.h"

namespace ecotone {

/// Rounds of trees; each round has one for every output, all grown from the scores before it.
struct BoostedTrees {
  Vector start;                     ///< by output
  std::vector<DecisionTree> trees;  ///< round after round
  Index outputs = 1;

  Index rounds() const { return std::ssize(trees) / outputs; }
};

/// Scores of rows by output: the start and the leaves of all trees, added in their order. `columns` are those of
/// training, for the codes of categories.
Matrix tree_scores(const BoostedTrees& model, const std::vector<TreeColumn>& columns, const Features& x,
                   const Context& context);

/// The leaf of every row in one tree.
std::vector<std::int32_t> tree_leaves(const DecisionTree& tree, const std::vector<TreeColumn>& columns,
                                      const Features& x, const Context& context);

/// Called after each round with its trees and the scores of all rows.
using AfterRound = std::function<void(Index round, const std::vector<GrownTree>& grown, const Matrix& scores)>;
/// Called after each tree is grown, with the derivatives that it was grown on.
using AfterTree = std::function<void(const GrownTree& grown, const Gradients& gradients)>;

/// Fits so many rounds. Rows of weight 0 are not seen. The bytes do not depend on the number of threads.
BoostedTrees boost_trees(const TreeRows& data, const TreeLabels& labels, const TreeDomains& domains, Index rounds,
                         const TreeOptions& options, const Context& context, const AfterRound& after = {},
                         const AfterTree& after_tree = {});

}  // namespace ecotone
