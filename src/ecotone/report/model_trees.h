#pragma once

#include <string>
#include <vector>

#include "ecotone/methods/learn/trees/tree_arrays.h"
#include "ecotone/methods/model.h"

namespace ecotone {

/// The trees of a model's stage that has them, with what their columns are called.
struct ModelTrees {
  TreeArrays arrays;
  std::vector<std::string> names;                ///< of the columns
  std::vector<std::vector<std::string>> levels;  ///< of each column: the texts of its codes; none for numbers
  std::string loss;                              ///< empty: a forest
  Vector start;                                  ///< the scores before the first round; of a forest empty
  std::vector<std::string> classes;              ///< whose trees take turns; empty: every round has one tree

  Index round_of(std::size_t tree) const;
  /// Null: trees are of no class.
  const std::string* class_of(std::size_t tree) const;
};
/// Option error `no_trees` if it has none.
ModelTrees model_trees(const Model& model, const Context& context);

/// Names of the columns that reach the learner, found by transforming one row; those of the model where a stage needs a
/// whole sample.
std::vector<std::string> learner_features(const Model& model, const Context& context);

}  // namespace ecotone
