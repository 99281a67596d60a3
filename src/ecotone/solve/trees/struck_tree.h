#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ecotone/solve/trees/code_table.h"
#include "ecotone/solve/trees/tree.h"

/// Trees that are answered without walking. The leaves are numbered from left to right, and eight of them are the bits
/// of a byte of every row. Each node strikes the leaves on its left from the rows that go right; the first leaf that
/// remains is the row's (lucchese2015, with bytes of many rows in one vector as in ye2018). There are no branches.
namespace ecotone {

inline constexpr Index most_struck_leaves = 256;

/// A byte of every row of a block: a code less 128, because vectors of bytes are compared as signed numbers.
using LaneCode = std::int8_t;
inline LaneCode lane_code(int code) { return static_cast<LaneCode>(code - 128); }

/// The lanes of a block of rows. Lane 0 and those after it are of numbers; the sets of categories of the tree at hand
/// have -1, -2, ... Beside them are the codes of columns of categories, from which every tree fills its own.
class TreeLanes {
 public:
  static constexpr Index rows = 512;  ///< of a lane; a block may have fewer

  TreeLanes(Index numbers, Index sets, Index categories)
      : sets_(sets), code_(at((numbers + sets) * rows)), category_(at(categories * rows)) {}
  LaneCode* lane(Index number) { return code_.data() + (sets_ + number) * rows; }
  const LaneCode* first() const { return code_.data() + sets_ * rows; }
  std::uint8_t* category(Index number) { return category_.data() + number * rows; }

 private:
  Index sets_;
  std::vector<LaneCode> code_;
  std::vector<std::uint8_t> category_;
};

/// What the nodes of a model compare.
class LanePlan {
 public:
  LanePlan() = default;
  explicit LanePlan(const std::vector<DecisionTree>& trees);

  /// Features of numbers. The lane 2 k has the codes of the k-th with missing values above all others, which therefore
  /// go right; the lane 2 k + 1 has them below all others.
  const std::vector<Index>& features() const { return features_; }
  const CodeTable& table(Index feature) const { return table_[at(feature)]; }
  /// Whether one byte is enough for the thresholds of every feature.
  bool fits() const { return fits_; }

  /// The lane that a node of numbers compares.
  std::int32_t lane_of(const TreeNode& node) const;
  /// Values go left exactly where their code is at most this.
  int code_of(const TreeNode& node) const;

 private:
  std::vector<std::vector<double>> threshold_;  ///< by feature: ascending, without +infinity
  std::vector<CodeTable> table_;                ///< by feature, of its thresholds
  std::vector<Index> features_;                 ///< ascending
  bool fits_ = true;
};

class StruckTree {
 public:
  /// Of a tree with at most `most_struck_leaves`.
  StruckTree(const DecisionTree& tree, const LanePlan& plan);

  /// A node of categories.
  struct Set {
    Index feature = 0;
    std::array<LaneCode, 256> right{};  ///< by code: 1 where it goes right, else 0
  };
  /// Set k needs the lane -k - 1.
  const std::vector<Set>& sets() const { return sets_; }

  /// Adds the leaves of the first `rows` rows to scores[0], scores[stride], ...
  void add_to(double* scores, Index stride, Index rows, const TreeLanes& lanes) const;

  /// Strikes leaves, of eight, from rows whose code is above `most`.
  struct Strike {
    std::int32_t lane = 0;
    LaneCode most = 0;
    std::int8_t leaves = 0;
  };

 private:
  using StrikesByByte = std::vector<std::vector<Strike>>;
  void number_leaves(const DecisionTree& tree, std::int32_t place, const LanePlan& plan, StrikesByByte& strikes);
  Strike strike_of(const TreeNode& node, const LanePlan& plan);

  std::vector<Strike> strikes_;     ///< those of the last eight leaves first
  std::vector<std::uint32_t> end_;  ///< of the strikes of each eight leaves, in the same order
  std::vector<Set> sets_;
  std::vector<double> value_;  ///< of the leaves from left to right
};

}  // namespace ecotone
