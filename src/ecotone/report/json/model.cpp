#include "ecotone/methods/model.h"

#include "ecotone/report/json/json.h"

namespace ecotone {

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
