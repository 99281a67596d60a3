#include "ecotone/report/text/domain_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text_table.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {
namespace {

constexpr Index domain_head = 12;  // the longest that a table shows

TextTable table_with(const DomainTable& given, std::size_t domains) {
  TextTable table;
  table.columns = {{"column", true}};
  for (const std::string& head : given.before) table.columns.push_back({head});
  for (std::size_t d = 0; d < domains; ++d)
    table.columns.push_back({display_text(one_line(given.domains[d]), domain_head)});
  for (const std::string& head : given.after) table.columns.push_back({head});
  for (const DomainTable::Line& line : given.lines) {
    table.lines.push_back({display_text(one_line(line.name), longest_domain)});
    std::vector<std::string>& cells = table.lines.back();
    cells.insert(cells.end(), line.before.begin(), line.before.end());
    cells.insert(cells.end(), line.domains.begin(), line.domains.begin() + static_cast<std::ptrdiff_t>(domains));
    cells.insert(cells.end(), line.after.begin(), line.after.end());
  }
  return table;
}

/// The columns that the first line of a text takes.
Index first_width(const std::string& text) { return display_width(text.substr(0, text.find('\n'))); }

}  // namespace

std::string loss_text(const std::optional<double>& loss) { return loss ? fmt::format("{:+.4f}", *loss) : "-"; }

std::string DomainTable::text() const {
  std::size_t shown = std::min(domains.size(), static_cast<std::size_t>(page_width / 2));
  std::string table = table_with(*this, shown).text();
  while (shown > 0 && first_width(table) > page_width) table = table_with(*this, --shown).text();
  if (shown < domains.size())
    table += fmt::format("({} more {}s are in the mean; --json lists them)\n", domains.size() - shown, unit);
  return table;
}

}  // namespace ecotone
