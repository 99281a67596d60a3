#include "ecotone/data/dataset.h"
#include "ecotone/report/json/json.h"

namespace ecotone {
namespace {

const char* role_name(Role role) {
  switch (role) {
    case Role::source:
      return "source";
    case Role::target:
      return "target";
    case Role::unseen:
      return "unseen";
  }
  return "";
}

}  // namespace

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

}  // namespace ecotone
