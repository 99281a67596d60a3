#include "ecotone/data/dataset.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/report/json/json.h"

namespace ecotone {
Json data_json(const Dataset& data) {
  Json json = {{"rows", data.rows()}, {"features", data.x.cols()}};
  if (data.y) json["task"] = task_name(data.y->task);
  if (data.y && data.y->task == Task::classify) json["classes"] = data.y->classes;
  const auto rows = data.domain.sizes();
  json["domains"] = Json::array();
  for (std::size_t d = 0; d < rows.size(); ++d)
    json["domains"].push_back({{"domain", data.domain.names[d]},
                               {"rows", rows[d]},
                               {"role", role_name(d < data.role.size() ? data.role[d] : Role::source)}});
  return json;
}

Json to_json(const Generator& generator) {
  return {{"name", generator.name},
          {"summary", generator.summary},
          {"citation", generator.citation},
          {"options", to_json(generator.options)}};
}

}  // namespace ecotone
