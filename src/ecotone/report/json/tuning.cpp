#include "ecotone/base/json_number.h"
#include "ecotone/evaluate/tune.h"
#include "ecotone/report/json/json.h"

namespace ecotone {

Json to_json(const Tuning& tuning) {
  Json json_points = Json::array();
  for (const TunePoint& point : tuning.points) {
    Json values = Json::array();
    for (const auto& value : point.folds) values.push_back(json_number(value));
    json_points.push_back(
        {{"pipeline", point.pipeline},
         {"mean", json_number(point.mean)},
         {"spread", json_number(point.spread)},
         {"difference", {{"mean", json_number(point.difference)}, {"sd", json_number(point.difference_sd)}}},
         {"folds", std::move(values)}});
    if (!point.error.empty()) json_points.back()["error"] = {{"code", point.error_code}, {"message", point.error}};
  }
  return {{"search", search_name(tuning.search)},
          {"metric", tuning.metric},
          {"held_out", tuning.by_domain ? "domains" : "rows"},
          {"folds", tuning.folds},
          {"points", std::move(json_points)},
          {"chosen", tuning.chosen},
          {"pipeline", tuning.points[tuning.chosen].pipeline}};
}

}  // namespace ecotone
