#pragma once

#include <cstdint>
#include <vector>

#include "ecotone/solve/trees/domain_splits.h"
#include "ecotone/solve/trees/histogram.h"
#include "ecotone/solve/trees/tree.h"

namespace ecotone {

struct GrownTree {
  DecisionTree tree;               ///< with values -rate G / (H + lam)
  std::vector<std::int32_t> leaf;  ///< of every row of the data, also those that it was not grown on
  std::vector<GradientSums> sums;  ///< of each leaf
};

/// Grows a tree on these rows (ascending), leaf by leaf: that with the largest score first, ties to the lower leaf. The
/// bytes do not depend on the number of threads.
GrownTree grow_tree(const TreeRows& data, const Gradients& gradients, std::vector<std::uint32_t> rows,
                    const TreeDomains& domains, const TreeOptions& options, const Context& context);

}  // namespace ecotone
