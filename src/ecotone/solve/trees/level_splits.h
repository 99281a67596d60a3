#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ecotone/solve/trees/splits.h"

/// Splits of symmetric trees: one for all leaves of a level, the one with the largest sum of gains.
namespace ecotone {

class LevelSplits {
 public:
  LevelSplits(const TreeRows& data, const TreeOptions& options, const SplitFinder& finder,
              const std::vector<Index>& columns)
      : data_(data), options_(options), finder_(finder), columns_(columns) {}

  /// The first of the best splits in the order of splits.h, where the sum of gains exceeds min_gain: of each leaf its
  /// node, or nothing where a side would be too small; such a leaf stays as it is and counts nothing. Levels of
  /// categories are sorted by the sums over all leaves.
  std::vector<std::optional<TreeNode>> best(std::span<const SplitNode> leaves, const Context& context) const;

 private:
  /// Splits of one column that grow out of each other: after each code on the left, or each code by itself.
  struct Sweep {
    std::vector<int> codes;
    bool missing_left = false;
    bool single = false;
    double lam = 0;
  };
  /// The best split of one column.
  struct Found {
    double gain = 0;
    Sweep sweep = {};
    std::size_t last = 0;  ///< the code after which the right begins
  };

  std::vector<GradientSums> summed(std::span<const SplitNode> leaves, Index column) const;
  std::vector<Sweep> sweeps_of(const std::vector<GradientSums>& cells, Index column) const;
  std::vector<double> gains_of(std::span<const SplitNode> leaves, Index column, const Sweep& sweep) const;
  Found best_of(std::span<const SplitNode> leaves, Index column) const;
  TreeNode node_of(const std::vector<GradientSums>& cells, Index column, const Found& found) const;

  const TreeRows& data_;
  const TreeOptions& options_;
  const SplitFinder& finder_;
  const std::vector<Index>& columns_;
};

}  // namespace ecotone
