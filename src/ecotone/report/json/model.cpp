#include "ecotone/methods/model.h"

#include <cmath>

#include "ecotone/report/json/json.h"
#include "ecotone/report/model_trees.h"

namespace ecotone {

namespace {

Json node_json(const TreeNode& node, const ModelTrees& found) {
  const std::size_t j = at(node.feature);
  Json json = {{"feature", node.feature}, {"column", found.names[j]}, {"gain", node.gain}};
  if (node.categorical) {
    const TreeColumn& column = found.arrays.columns[j];
    json["levels"] = Json::array();
    for (int code = 0; code < column.bins(); ++code) {
      if (!has_level(node.levels, code)) continue;
      const double level = column.level[at(code)];
      const bool named = level >= 0 && level < static_cast<double>(found.levels[j].size());
      json["levels"].push_back(named ? Json(found.levels[j][static_cast<std::size_t>(level)]) : Json(level));
    }
  } else {
    json["threshold"] = std::isinf(node.threshold) ? Json(node.threshold > 0 ? "inf" : "-inf") : Json(node.threshold);
    json["missing"] = node.missing_left ? "left" : "right";
  }
  json["left"] = node.left;
  json["right"] = node.right;
  return json;
}

}  // namespace

Json trees_json(const Model& model, const Context& context) {
  const ModelTrees found = model_trees(model, context);
  Json trees = Json::array();
  for (std::size_t t = 0; t < found.arrays.trees.size(); ++t) {
    const DecisionTree& tree = found.arrays.trees[t];
    Json nodes = Json::array();
    for (const TreeNode& node : tree.nodes) nodes.push_back(node_json(node, found));
    Json json = {{"round", found.round_of(t)}};
    if (const std::string* name = found.class_of(t)) json["class"] = *name;
    json["nodes"] = std::move(nodes);
    json["value"] = tree.value;
    json["rows"] = tree.cover;
    trees.push_back(std::move(json));
  }
  return trees;
}

Json fit_json(const Model& model, const Dataset& data, const TrainView& view) {
  Json json = {{"pipeline", model.pipeline().text()}};
  json.update(data_json(data));
  json["labelled"] = view.labelled();
  json["unlabelled"] = view.x.rows() - view.labelled();
  json["stages"] = Json::array();
  for (std::size_t i = 0; i < model.statuses().size(); ++i) {
    json["stages"].push_back({{"stage", model.pipeline().stages()[i].method->name},
                              {"converged", model.statuses()[i].converged},
                              {"status", model.statuses()[i].text}});
    if (const Index rows = model.training_rows(i); rows > 0) json["stages"].back()["training_rows"] = rows;
  }
  for (const auto& [name, note] : model.notes().items()) json[name] = note;
  return json;
}

}  // namespace ecotone
