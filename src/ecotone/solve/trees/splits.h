#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ecotone/solve/trees/histogram.h"
#include "ecotone/solve/trees/tree.h"

/// The splits of a node, in their order: columns ascending; of numbers, missing values to the right before to the left,
/// and bins ascending; of categories, prefixes of the sorted levels from the low end before those from the high end.
namespace ecotone {

/// pooled: the gain. agree: refused unless enough domains have the effect's sign. vote: refused unless enough domains
/// gain. steady: the gain less its spread over domains.
enum class SplitRule { pooled, agree, vote, steady };

/// leafwise: the leaf with the best split is split next. symmetric: all leaves of a level are split at one place.
enum class TreeShape { leafwise, symmetric };

struct TreeOptions {
  TreeShape shape = TreeShape::leafwise;
  double rate = 0.1;
  int leaves = 15;
  int depth = 0;  ///< 0: no limit
  double lam = 1;
  Index min_rows = 10;
  double min_hessian = 1e-3;
  double min_gain = 0;
  int min_domains = 1;
  SplitRule splits = SplitRule::pooled;
  double rho = 0.5;     ///< steady: how much the spread counts
  double agree = 0.75;  ///< agree and vote: share of the domains
  int cat_one_hot = 4;  ///< up to so many levels, one against the rest
  double cat_smooth = 10;
  Index cat_min_rows = 10;
  double cat_lam = 10;
  int cat_most = 32;               ///< levels of a set
  double rows = 1;                 ///< share of the rows that a tree is grown on
  double cols = 1;                 ///< share of the columns that a tree may split
  double gamma = 1;                ///< not 1: anchor boosting, which weighs the mean gradient of domains; see anchor.h
  std::vector<int> monotone = {};  ///< by column: 1 or -1 where scores must rise or fall with it; empty: none
};

/// A node whose splits are looked at.
struct SplitNode {
  const GradientHistogram& histogram;
  GradientSums total;
  /// Between which the values of its leaves must lie, before the rate: set by splits of monotone columns above it.
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

/// A split of a node: of which column, and where.
struct TreeSplit {
  Index column = 0;
  int place = 0;        ///< the last bin of the left; of categories: how many levels are left, or the one level
  bool turned = false;  ///< missing values are left; of categories: levels are taken from the high end
  GradientSums left;
  double gain = 0;
};

class SplitFinder {
 public:
  /// `columns`: those that may be split, ascending; empty: all.
  SplitFinder(const TreeRows& data, const Gradients& gradients, const TreeOptions& options,
              std::vector<Index> columns = {});

  /// The first of the best splits by gain, above min_gain.
  std::optional<TreeSplit> best(const SplitNode& node, const Context& context) const;
  /// The same of one column.
  std::optional<TreeSplit> best_of(const SplitNode& node, Index column) const;
  /// All splits that gain, in their order.
  std::vector<TreeSplit> all(const SplitNode& node, const Context& context) const;
  TreeNode node_of(const SplitNode& node, const TreeSplit& split) const;

  double g(const GradientSums& sums) const { return static_cast<double>(sums.g) * g_unit_; }
  double h(const GradientSums& sums) const { return static_cast<double>(sums.h) * h_unit_; }
  /// The value of a leaf before the rate.
  double newton_step(const GradientSums& sums) const {
    const double below = h(sums) + options_.lam;
    return below > 0 ? -g(sums) / below : 0;
  }
  double newton_step(const GradientSums& sums, const SplitNode& bounds) const {
    return std::clamp(newton_step(sums), bounds.low, bounds.high);
  }
  /// Which way scores must go with a column: 1, -1 or, if it does not matter, 0.
  int direction_of(Index column) const { return options_.monotone.empty() ? 0 : options_.monotone[at(column)]; }
  /// Whether both sides are large enough.
  bool allows(const GradientSums& left, const GradientSums& right) const {
    return left.rows >= options_.min_rows && right.rows >= options_.min_rows && h(left) >= options_.min_hessian &&
           h(right) >= options_.min_hessian;
  }
  /// Whether levels of categories are taken one by one.
  bool few_levels(const GradientSums* cells, int bins) const;
  /// Levels in the order in which sets are made of them.
  std::vector<int> sorted_levels(const GradientSums* cells, int bins) const;
  const std::vector<Index>& columns() const { return columns_; }
  /// What a split adds to or takes from the sum of all leaves' terms.
  double term(const GradientSums& sums, double lam) const {
    const double first = g(sums);
    return first * first / (h(sums) + lam);
  }

 private:
  template <class Visit>
  void each(const SplitNode& node, Index column, const Visit& visit) const;
  template <class Visit>
  void each_number(const SplitNode& node, Index column, const Visit& visit) const;
  template <class Visit>
  void each_set(const SplitNode& node, Index column, const Visit& visit) const;

  /// The gain of a split, or 0 where it is not allowed. `direction`: in which the values must go, or 0.
  double gain_of(const SplitNode& node, int direction, double whole, const GradientSums& left, double lam) const {
    const GradientSums right = node.total - left;
    if (!allows(left, right)) return 0;
    if (!options_.monotone.empty()) return bounded_gain(node, direction, left, right, lam);
    return 0.5 * (term(left, lam) + term(right, lam) - whole);
  }
  /// The same with values that keep to the bounds; 0 if they would go the wrong way.
  double bounded_gain(const SplitNode& node, int direction, const GradientSums& left, const GradientSums& right,
                      double lam) const;

  const TreeRows& data_;
  const TreeOptions& options_;
  std::vector<Index> columns_;
  double g_unit_, h_unit_;
};

}  // namespace ecotone
