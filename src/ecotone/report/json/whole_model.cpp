#include "ecotone/evaluate/whole_model.h"

#include "ecotone/base/json_number.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {

namespace {

Json decision_json(const DecisionRegions& regions) {
  return {{"x_name", regions.x_name}, {"y_name", regions.y_name}, {"left", regions.left},   {"right", regions.right},
          {"bottom", regions.bottom}, {"top", regions.top},       {"cells", regions.cells}, {"x", regions.x},
          {"y", regions.y},           {"class", regions.cls}};
}

DecisionRegions decision_from(const ResultField& field, std::size_t classes) {
  const auto class_of = [classes](const ResultField& each) { return static_cast<Index>(each.place(classes)); };
  DecisionRegions regions;
  regions.x_name = field.at("x_name").text();
  regions.y_name = field.at("y_name").text();
  regions.left = field.at("left").number();
  regions.right = field.at("right").number();
  regions.bottom = field.at("bottom").number();
  regions.top = field.at("top").number();
  if (!(regions.right > regions.left) || !(regions.top > regions.bottom))
    field.fail("must reach from left to right and from bottom to top");
  const ResultField cells = field.at("cells");
  regions.cells = cells.each([&](const ResultField& row) { return row.each(class_of); });
  if (regions.cells.empty() || regions.cells.front().empty()) cells.fail("must not be empty");
  for (const auto& row : regions.cells)
    if (row.size() != regions.cells.front().size()) cells.fail("must have rows of the same length");
  regions.x = field.at("x").numbers();
  regions.y = field.at("y").sized(regions.x.size()).numbers();
  regions.cls = field.at("class").sized(regions.x.size()).each(class_of);
  return regions;
}

}  // namespace

Json to_json(const WholeModel& whole) {
  Json effects = Json::array(), history = Json::array();
  for (const FeatureEffect& effect : whole.effects)
    effects.push_back({{"feature", effect.feature},
                       {"weight", json_number(effect.weight)},
                       {"per_deviation", json_number(effect.per_deviation)}});
  for (const BoostingLine& line : whole.history)
    history.push_back({{"name", line.name}, {"values", json_numbers(line.values)}});
  Json json = {{"pipeline", whole.pipeline},
               {"classes", whole.classes},
               {"effects", std::move(effects)},
               {"history", std::move(history)}};
  if (whole.regions) json["regions"] = decision_json(*whole.regions);
  return json;
}

WholeModel whole_model_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  WholeModel whole;
  whole.pipeline = field.at("pipeline").text();
  whole.classes = field.at("classes").texts();
  whole.effects = field.at("effects").each([](const ResultField& each) {
    return FeatureEffect{each.at("feature").text(), each.at("weight").number_or_nan(),
                         each.at("per_deviation").number_or_nan()};
  });
  whole.history = field.at("history").each([](const ResultField& each) {
    return BoostingLine{each.at("name").text(), each.at("values").numbers_or_nan()};
  });
  if (const auto regions = field.find("regions")) whole.regions = decision_from(*regions, whole.classes.size());
  return whole;
}

}  // namespace ecotone
