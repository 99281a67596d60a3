#include "ecotone/diagnose/projection.h"

#include "ecotone/base/json_number.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"

namespace ecotone {

Json to_json(const Projections& projections) {
  Json planes = Json::array();
  for (const Projection& plane : projections.planes)
    planes.push_back({{"pipeline", plane.pipeline}, {"x", json_numbers(plane.x)}, {"y", json_numbers(plane.y)}});
  return {{"domains", projections.domains},
          {"classes", projections.classes},
          {"domain", projections.domain},
          {"class", projections.cls},
          {"planes", std::move(planes)}};
}

Projections projections_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  Projections projections;
  projections.domains = field.at("domains").texts();
  projections.classes = field.at("classes").texts();
  const auto place_among = [](std::size_t count) {
    return [count](const ResultField& each) { return static_cast<Index>(each.place(count)); };
  };
  projections.domain = field.at("domain").each(place_among(projections.domains.size()));
  const std::size_t rows = projections.domain.size();
  const ResultField classes = field.at("class");
  if (!projections.classes.empty()) classes.sized(rows);
  projections.cls = classes.each(place_among(projections.classes.size()));
  projections.planes = field.at("planes").each([&](const ResultField& each) {
    return Projection{each.at("pipeline").text(), each.at("x").sized(rows).numbers_or_nan(),
                      each.at("y").sized(rows).numbers_or_nan()};
  });
  return projections;
}

}  // namespace ecotone
