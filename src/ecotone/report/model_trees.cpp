#include "ecotone/report/model_trees.h"

#include <fmt/format.h>

#include <algorithm>

#include "ecotone/base/error.h"

namespace ecotone {

std::vector<std::string> learner_features(const Model& model, const Context& context) {
  const auto& features = model.features();
  try {
    const Matrix row = Matrix::Zero(1, static_cast<Index>(features.size()));
    return model.transform({Features::dense(row, features), std::nullopt}, context).names();
  } catch (const Error&) {
    return features;
  }
}

Index ModelTrees::round_of(std::size_t tree) const {
  return static_cast<Index>(tree / std::max<std::size_t>(classes.size(), 1)) + 1;
}

const std::string* ModelTrees::class_of(std::size_t tree) const {
  return classes.empty() ? nullptr : &classes[tree % classes.size()];
}

ModelTrees model_trees(const Model& model, const Context& context) {
  for (std::size_t i = 0; i < model.pipeline().stages().size(); ++i) {
    const StageState state = model.state(i);
    if (!state.has("tree_first")) continue;
    ModelTrees found;
    found.names = learner_features(model, context);
    const Index columns = state.vector("categorical", -1).size();
    if (std::ssize(found.names) != columns) {  // a stage before it needs a whole sample to name them
      found.names.clear();
      for (Index j = 0; j < columns; ++j) found.names.push_back(fmt::format("x{}", j + 1));
    }
    found.arrays = read_trees(state, columns);
    if (state.has("start")) {
      found.loss = state.text("loss");
      found.start = state.vector("start", -1);
    }
    if (model.classes().size() > 2) found.classes = model.classes();
    found.levels.resize(found.names.size());
    for (std::size_t j = 0; j < found.names.size(); ++j)
      for (const Column& column : model.schema().columns)
        if (column.kind == ColumnKind::categorical && column.name == found.names[j]) found.levels[j] = column.levels;
    return found;
  }
  option_error("no_trees", "--trees: the model '{}' has no stage of trees (of several classes with multiclass=softmax)",
               model.pipeline().text());
}

}  // namespace ecotone
