#include <algorithm>

#include "ecotone/evaluate/experiment.h"
#include "ecotone/evaluate/text_width.h"

namespace ecotone {

namespace {

std::string with_error(const std::optional<double>& value, const std::optional<double>& error) {
  if (!value) return "-";
  return error ? fmt::format("{:.2f} ± {:.2f}", *value, *error) : fmt::format("{:.2f}", *value);
}

/// The block of one column of the table.
std::string block(const std::vector<const ReproducedRow*>& rows) {
  Index name = display_width(rows.front()->column), published = 9, ours = 4;
  for (const ReproducedRow* row : rows) {
    name = std::max(name, display_width(row->row));
    published = std::max(published, display_width(with_error(row->published, row->published_se)));
    ours = std::max(ours, display_width(with_error(row->ours, row->se)));
  }
  std::string text = fmt::format("{}  {}  {}\n", pad_right(rows.front()->column, name),
                                 pad_left("published", published), pad_left("ours", ours));
  for (Index i = 0; i < name + published + ours + 4; ++i) text += "─";
  text += "\n";
  for (const ReproducedRow* row : rows) {
    text += fmt::format("{}  {}  {}  {}\n", pad_right(row->row, name),
                        pad_left(with_error(row->published, row->published_se), published),
                        pad_left(with_error(row->ours, row->se), ours), row->verdict);
  }
  return text;
}

}  // namespace

std::string reproduction_table(const Reproduction& reproduction) {
  std::string text = fmt::format("{} · {}: {}\n", reproduction.paper, reproduction.item, reproduction.title);
  if (reproduction.rows.empty()) return text;
  text += fmt::format("{} repetition{}; value ± standard error\n", reproduction.rows.front().repetitions,
                      reproduction.rows.front().repetitions == 1 ? "" : "s");
  std::vector<std::string> columns;
  for (const ReproducedRow& row : reproduction.rows)
    if (std::ranges::find(columns, row.column) == columns.end()) columns.push_back(row.column);
  for (const std::string& column : columns) {
    std::vector<const ReproducedRow*> rows;
    for (const ReproducedRow& row : reproduction.rows)
      if (row.column == column) rows.push_back(&row);
    text += "\n";
    text += block(rows);
  }
  if (!reproduction.claims.empty()) text += "\n";
  for (const ReproducedClaim& one : reproduction.claims)
    text += fmt::format("{}  {} (ours {:.2f})\n", one.holds ? "holds         " : "does not hold ", one.claim.text,
                        one.ours);
  text += fmt::format("\n{}\npublished: {}\n", verdict_rule(), reproduction.source);
  for (const std::string& line : reproduction.left_out) text += fmt::format("left out: {}\n", line);
  return text;
}

}  // namespace ecotone
