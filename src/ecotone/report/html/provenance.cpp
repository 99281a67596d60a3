#include "ecotone/report/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

std::string fact(std::string_view name, const std::string& html) {
  return html.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, html);
}

std::string listed(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<std::string> items;
  for (const auto& [name, text] : pairs) items.push_back(fmt::format("{} ({})", escape(name), escape(text)));
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string provenance_list(const Provenance& from) {
  std::string items = fact("Program", fmt::format("ecotone {}, commit {}", escape(from.version), escape(from.commit)));
  items += fact("Command", fmt::format("<code>{}</code>", escape(from.command)));
  items += fact("Seed", fmt::format("{}", from.seed));
  items += fact("Files", listed(from.files));
  if (from.data_hash.empty()) return fmt::format("<dl class=\"card\">\n{}</dl>\n", items);
  items += fact("Data hash", fmt::format("<code>{}</code>", escape(from.data_hash)));
  items += fact("Rows", fmt::format("{}", from.rows));
  std::vector<std::string> dropped;
  for (const auto& [rows, why] : from.dropped) dropped.push_back(fmt::format("{}: {}", rows, escape(why)));
  items += fact("Rows not used", dropped.empty() ? "none" : fmt::format("{}", fmt::join(dropped, "; ")));
  items += fact("Columns with a role", listed(from.roles));
  constexpr std::ptrdiff_t most_named = 100;
  const auto named = std::min(std::ssize(from.columns), most_named);
  std::string columns = escape(fmt::format("{}", fmt::join(from.columns.begin(), from.columns.begin() + named, ", ")));
  if (named < std::ssize(from.columns)) columns += fmt::format(" and {} more", std::ssize(from.columns) - named);
  items += fact("Columns used", columns);
  items += fact("Columns left out", from.left_out.empty() ? "none" : listed(from.left_out));
  return fmt::format("<dl class=\"card\">\n{}</dl>\n", items);
}

}  // namespace

Panel provenance_panel(const std::vector<Provenance>& provenance) {
  std::string html;
  std::set<std::string> hashes;
  for (const Provenance& from : provenance)
    if (!from.data_hash.empty()) hashes.insert(from.data_hash);
  if (hashes.size() > 1) html += "<p><strong>The results on this page come from different data.</strong></p>\n";
  for (const Provenance& from : provenance) html += provenance_list(from);
  return {"provenance", "Where this comes from", std::move(html)};
}

}  // namespace ecotone::report
