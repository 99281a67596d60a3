#pragma once

#include "ecotone/solve/trees/boosted.h"

namespace ecotone {

/// Moves the leaves of a model towards rows of a new domain and keeps its splits. Tree after tree, a leaf's value takes
/// another Newton step, value -= rate G / (H + strength), with the sums over the rows in it and the scores of all trees
/// up to this one, its old values included. Leaves without rows stay; a large strength gives back the model. Not for
/// losses whose leaves are quantiles.
BoostedTrees refit_trees(BoostedTrees model, const std::vector<TreeColumn>& columns, const Features& x,
                         const TreeLabels& labels, double rate, double strength, const Context& context);

}  // namespace ecotone
