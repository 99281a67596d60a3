#pragma once

#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/boost/stump.h"

namespace ecotone {

/// Deepest tree of boosting.
constexpr int boost_most_depth = 6;

/// A tree of fixed depth whose leaves hold margins: h(x) is the value of the leaf of x. A leaf of value 0 still has a
/// sign.
struct BoostTree {
  std::vector<StumpCandidate>
      node;                   ///< 2^depth - 1, children of k at 2k + 1 and 2k + 2; x_j > theta goes to the second
  std::vector<double> value;  ///< of each leaf, in [-1, 1]
  std::vector<double> sign;   ///< of each leaf, -1 or 1: the sign of its value unless that is 0

  /// Number of the leaf of a row.
  std::size_t leaf(const double* row) const {
    std::size_t k = 0;
    while (k < node.size()) k = 2 * k + (row[node[k].attribute] > node[k].theta ? 2 : 1);
    return k - node.size();
  }
  double at(const double* row) const { return value[leaf(row)]; }
  double side(const double* row) const { return sign[leaf(row)]; }
};

/// f(x) = sum_n w_n sign(h_n(x)) of all rows, on all threads.
Vector tree_votes(std::span<const BoostTree> trees, std::span<const double> weights, const Features& x,
                  const Context& context);

}  // namespace ecotone
