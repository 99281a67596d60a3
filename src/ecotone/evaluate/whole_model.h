#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// How a feature that a linear learner sees moves its score.
struct FeatureEffect {
  std::string feature;
  double weight = 0;         ///< per unit
  double per_deviation = 0;  ///< per standard deviation of the feature
};

/// A quantity of boosting after each round.
struct BoostingLine {
  std::string name;
  std::vector<double> values;
};

/// What a model of two features answers on a grid.
struct DecisionRegions {
  std::string x_name, y_name;
  double left = 0, right = 1, bottom = 0, top = 1;  ///< of the outer cells
  std::vector<std::vector<Index>> cells;            ///< the number of the class, by row from below
  std::vector<double> x, y;                         ///< of some rows
  std::vector<Index> cls;                           ///< and their classes
};

/// A pipeline fitted on all labelled rows, and what can be seen in it.
struct WholeModel {
  std::string pipeline;
  std::vector<std::string> classes;
  std::vector<FeatureEffect> effects;  ///< of a linear learner of numbers or two classes, the strongest first
  std::vector<BoostingLine> history;   ///< of boosting
  std::optional<DecisionRegions> regions;
};

/// Whether there would be something to see: a linear learner, boosting, or two features.
bool has_inside(const Dataset& data, const Pipeline& pipeline);
/// Data and option errors are those of fitting.
WholeModel whole_model(const Dataset& data, const Pipeline& pipeline, const Context& context);

}  // namespace ecotone
