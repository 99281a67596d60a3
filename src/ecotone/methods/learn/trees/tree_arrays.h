#pragma once

#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/solve/trees/bins.h"
#include "ecotone/solve/trees/tree.h"

/// Trees as arrays of model files: the nodes and leaves of all trees after one another.
namespace ecotone {

void write_trees(const std::vector<DecisionTree>& trees, const std::vector<TreeColumn>& columns, StageState& state);

/// What was written, for rows of `cols` columns. Everything is checked: file error `bad_model`.
struct TreeArrays {
  std::vector<DecisionTree> trees;
  std::vector<TreeColumn> columns;
};
TreeArrays read_trees(const StageState& state, Index cols);

}  // namespace ecotone
