#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ecotone/solve/trees/domain_splits.h"
#include "ecotone/solve/trees/histogram.h"
#include "ecotone/solve/trees/tree.h"

namespace ecotone {

/// What a tree is grown on.
struct TreeDraw {
  std::vector<std::uint32_t> rows;  ///< ascending
  std::vector<Index> columns = {};  ///< ascending; empty: all
};

struct GrownTree {
  DecisionTree tree;               ///< with values -rate G / (H + lam)
  std::vector<std::int32_t> leaf;  ///< of every row of the data, also those that it was not grown on
  std::vector<GradientSums> sums;  ///< of each leaf
  /// Of each leaf: between which its value must lie, before the rate; empty: no column is monotone.
  std::vector<std::pair<double, double>> bounds;
};

/// Grows a tree, leaf by leaf: that with the largest score first, ties to the lower leaf; or level by level. The bytes
/// do not depend on the number of threads.
GrownTree grow_tree(const TreeRows& data, const Gradients& gradients, TreeDraw draw, const TreeDomains& domains,
                    const TreeOptions& options, const Context& context);

}  // namespace ecotone
