#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ecotone/solve/trees/boosted.h"
#include "ecotone/solve/trees/struck_tree.h"

namespace ecotone {

/// Scores of many rows. The values of a block of rows become codes of one byte, by the thresholds of the model, from
/// which trees of up to 256 leaves are answered for many rows at a time. Larger trees are walked, and so are all if a
/// column has more thresholds than a byte has codes. The bytes are the same either way.
class TreeScorer {
 public:
  /// For about so many rows: preparing costs as much as walking a few. The model must outlive the scorer, and so must
  /// `columns`, which are those of training, for the codes of categories.
  TreeScorer(const BoostedTrees& model, const std::vector<TreeColumn>& columns, Index rows);

  /// The start and the leaves of all trees, added in their order.
  Matrix scores(const Features& x, const Context& context) const;

 private:
  /// Adds the trees to the scores of rows [first, first + rows) of a block.
  void add_trees(const RowBlock& block, Index first, Index rows, TreeLanes& lanes, double* scores) const;
  void fill_numbers(const RowBlock& block, Index first, Index rows, TreeLanes& lanes) const;
  void fill_categories(const RowBlock& block, Index first, Index rows, TreeLanes& lanes) const;
  void fill_sets(const StruckTree& tree, Index rows, TreeLanes& lanes) const;

  const BoostedTrees& model_;
  const std::vector<TreeColumn>& columns_;
  LanePlan plan_;
  std::vector<std::optional<StruckTree>> struck_;  ///< by tree; none: it is walked
  Index most_sets_ = 0;                            ///< of a tree
  std::vector<Index> category_place_;  ///< by feature: which column of categories of the lanes it is; -1: no set asks
  Index categories_ = 0;
};

/// The leaf of row i of a block.
std::int32_t leaf_in(const DecisionTree& tree, const std::vector<TreeColumn>& columns, const RowBlock& block, Index i);

}  // namespace ecotone
