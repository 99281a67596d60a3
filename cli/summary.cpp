#include "cli/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ecotone::cli {
namespace {

constexpr std::size_t most_names = 12;  // more would fill the screen

std::vector<Index> rows_per_domain(const Domains& domains) {
  std::vector<Index> rows(domains.names.size(), 0);
  for (const std::int32_t domain : domains.index) ++rows[static_cast<std::size_t>(domain)];
  return rows;
}

std::string shortened(std::vector<std::string> names) {
  if (names.size() <= most_names) return fmt::format("{}", fmt::join(names, ", "));
  const std::size_t more = names.size() - (most_names - 2);
  names.resize(most_names - 2);
  return fmt::format("{}, and {} more", fmt::join(names, ", "), more);
}

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

std::string domains_text(const Dataset& data) {
  const auto rows = rows_per_domain(data.domain);
  std::vector<std::string> names;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    const bool target = d < data.role.size() && data.role[d] == Role::target;
    names.push_back(fmt::format("{} {}{}", data.domain.names[d], rows[d], target ? " target" : ""));
  }
  return fmt::format("{} ({})", counted(data.domain.count(), "domain"), shortened(names));
}

}  // namespace

std::string counted(Index count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string data_summary(const Dataset& data) {
  std::string text = fmt::format("{}, {}", counted(data.rows(), "row"), counted(data.x.cols(), "feature"));
  if (data.domain.count() > 1) text += ", " + domains_text(data);
  if (!data.y) return text + ", no label";
  text += fmt::format(", label {} ({}", data.schema.label, task_name(data.y->task));
  if (data.y->task == Task::classify) text += ": " + shortened(data.y->classes);
  return text + ")";
}

Json data_json(const Dataset& data) {
  Json json = {{"rows", data.rows()}, {"features", data.x.cols()}};
  if (data.y) json["task"] = task_name(data.y->task);
  if (data.y && data.y->task == Task::classify) json["classes"] = data.y->classes;
  const auto rows = rows_per_domain(data.domain);
  json["domains"] = Json::array();
  for (std::size_t d = 0; d < rows.size(); ++d)
    json["domains"].push_back({{"domain", data.domain.names[d]},
                               {"rows", rows[d]},
                               {"role", role_name(d < data.role.size() ? data.role[d] : Role::source)}});
  return json;
}

}  // namespace ecotone::cli
