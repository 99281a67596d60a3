#include "ecotone/report/provenance.h"

#include "ecotone/report/json/result_field.h"

namespace ecotone {

namespace {

Json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs, const char* first, const char* second) {
  Json list = Json::array();
  for (const auto& [a, b] : pairs) list.push_back({{first, a}, {second, b}});
  return list;
}

}  // namespace

Json to_json(const Provenance& from) {
  Json dropped = Json::array();
  for (const auto& [rows, why] : from.dropped) dropped.push_back({{"rows", rows}, {"why", why}});
  return {{"version", from.version},
          {"commit", from.commit},
          {"command", from.command},
          {"seed", from.seed},
          {"data_hash", from.data_hash},
          {"files", pairs_json(from.files, "file", "size")},
          {"rows", from.rows},
          {"dropped", std::move(dropped)},
          {"roles", pairs_json(from.roles, "column", "role")},
          {"columns", from.columns},
          {"left_out", pairs_json(from.left_out, "column", "why")}};
}

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs pairs_from(const ResultField& list, const char* first, const char* second) {
  Pairs pairs;
  for (const ResultField& item : list.items()) pairs.emplace_back(item.at(first).text(), item.at(second).text());
  return pairs;
}

}  // namespace

Provenance provenance_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  Provenance from;
  from.version = field.at("version").text();
  from.commit = field.at("commit").text();
  from.command = field.at("command").text();
  from.seed = field.at("seed").seed();
  from.data_hash = field.at("data_hash").text();
  from.files = pairs_from(field.at("files"), "file", "size");
  from.rows = field.at("rows").whole();
  for (const ResultField& item : field.at("dropped").items())
    from.dropped.emplace_back(item.at("rows").whole(), item.at("why").text());
  from.roles = pairs_from(field.at("roles"), "column", "role");
  from.columns = field.at("columns").texts();
  from.left_out = pairs_from(field.at("left_out"), "column", "why");
  return from;
}

}  // namespace ecotone
