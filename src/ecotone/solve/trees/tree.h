#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/solve/trees/bins.h"

namespace ecotone {

/// A set of codes of categories.
using LevelSet = std::array<std::uint64_t, 4>;
inline bool has_level(const LevelSet& set, int code) { return (set[at(code / 64)] >> (code % 64) & 1) != 0; }
inline void add_level(LevelSet& set, int code) { set[at(code / 64)] |= std::uint64_t{1} << (code % 64); }

struct TreeNode {
  Index feature = 0;
  bool categorical = false;
  int bin = 0;           ///< codes up to it go left
  double threshold = 0;  ///< x <= threshold goes left; infinite: only missing values go right
  bool missing_left = false;
  LevelSet levels{};                 ///< of categories: the codes that go left; all else goes right
  std::int32_t left = 0, right = 0;  ///< a node, or -(leaf + 1)
  double gain = 0;
  double score = 0;  ///< by which it was chosen: the gain, or less

  bool goes_left(std::uint8_t code) const {
    if (categorical) return code != missing_bin && has_level(levels, code);
    return code == missing_bin ? missing_left : code <= bin;
  }
  /// The same for a value; `column` is the node's.
  bool goes_left(double x, const TreeColumn& column) const {
    if (categorical) return goes_left(column.code(x));
    return std::isnan(x) ? missing_left : x <= threshold;
  }
};

/// Nodes in the order of splitting; a left child keeps its parent's leaf number, the right one gets the next.
struct DecisionTree {
  std::vector<TreeNode> nodes;
  std::vector<double> value;  ///< of each leaf
  std::vector<double> cover;  ///< rows of each leaf in training

  /// The leaf of a row; `left(node)` says where it goes.
  template <class Left>
  std::int32_t leaf_of(const Left& left) const {
    std::int32_t place = nodes.empty() ? -1 : 0;
    while (place >= 0) {
      const TreeNode& node = nodes[at(place)];
      place = left(node) ? node.left : node.right;
    }
    return -place - 1;
  }
};

}  // namespace ecotone
