#include "ecotone/diagnose/sums_diagnosis.h"

#include "ecotone/base/json_number.h"
#include "ecotone/report/json/json.h"

namespace ecotone {

Json to_json(const SumsDiagnosis& found) {
  Json json = {{"kind", "sums_diagnosis"}, {"pipeline", found.pipeline}, {"domains", Json::array()}};
  for (std::size_t g = 0; g < found.domains.size(); ++g) {
    Json domain = {{"domain", found.domains[g]}, {"rows", found.rows[g]}};
    for (std::size_t c = 0; c < found.classes.size(); ++c)
      domain["share"][found.classes[c]] = found.class_share(static_cast<Index>(g), static_cast<Index>(c));
    json["domains"].push_back(std::move(domain));
  }
  json["smd"] = Json::array();
  for (std::size_t j = 0; j < found.features.size(); ++j) {
    Json values = Json::object();
    for (std::size_t g = 0; g < found.domains.size(); ++g) values[found.domains[g]] = json_number(found.smd[j][g]);
    json["smd"].push_back({{"feature", found.features[j]}, {"by_domain", std::move(values)}});
  }
  json["mmd2"] = nullptr;
  if (found.mmd2) {
    json["mmd2"] = Json::array();
    for (Index a = 0; a < found.mmd2->rows(); ++a) {
      const Vector row = found.mmd2->row(a).transpose();
      json["mmd2"].push_back(std::vector<double>(row.begin(), row.end()));
    }
  }
  return json;
}

}  // namespace ecotone
