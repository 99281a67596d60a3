#pragma once

#include <vector>

#include "ecotone/solve/trees/boosted.h"

namespace ecotone {

/// What each column adds to the scores of each row: the Shapley values of the trees (lundberg2018), where a tree whose
/// column is not known goes both ways, by the rows that training had there (DecisionTree::cover). Rows x (columns + 1)
/// for every output, one after the other; the last column of each is the mean score by those rows, and a row adds up to
/// its score. Memory is checked. The bytes of a row depend on that row alone.
Matrix tree_contributions(const BoostedTrees& model, const std::vector<TreeColumn>& columns, const Features& x,
                          const Context& context);

}  // namespace ecotone
