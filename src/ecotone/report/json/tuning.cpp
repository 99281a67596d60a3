#include "ecotone/base/json_number.h"
#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/report/json/json.h"

namespace ecotone {

Json to_json(const Tuning& tuning) {
  Json json_points = Json::array();
  for (const TunePoint& point : tuning.points) {
    Json values = Json::array();
    for (const auto& value : point.folds) values.push_back(json_number(value));
    Json metrics = Json::object();
    for (const auto& [name, value] : point.metrics) metrics[name] = json_number(value);
    json_points.push_back(
        {{"pipeline", point.pipeline},
         {"mean", json_number(point.mean)},
         {"spread", json_number(point.spread)},
         {"score", json_number(point.score)},
         {"difference", {{"mean", json_number(point.difference)}, {"se", json_number(point.difference_se)}}},
         {"folds", std::move(values)},
         {"metrics", std::move(metrics)}});
    if (!point.error.empty()) json_points.back()["error"] = {{"code", point.error_code}, {"message", point.error}};
  }
  Json bound = Json::array();
  for (const auto& value : tuning.bound) bound.push_back(json_number(value));
  return {{"search", search_name(tuning.search)},
          {"metric", tuning.metric},
          {"held_out", tuning.by_domain ? "domains" : "rows"},
          {"folds", tuning.folds},
          {"bound", std::move(bound)},
          {"points", std::move(json_points)},
          {"best", tuning.best},
          {"chosen", tuning.chosen},
          {"optimistic", true},
          {"pipeline", tuning.points[tuning.chosen].pipeline}};
}

}  // namespace ecotone
