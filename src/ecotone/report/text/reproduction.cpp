#include <algorithm>
#include <cmath>

#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"
#include "ecotone/report/text/text_width.h"
#include "ecotone/reproduce/experiment.h"

namespace ecotone {

namespace {

/// Decimals that show the first digit of this number: 2 to 4.
int decimals_for(double number) {
  if (!(number > 0)) return 2;
  return static_cast<int>(std::clamp(std::ceil(-std::log10(number)), 2.0, 4.0));
}

/// Decimals of a row: its standard error must not look like 0, and a margin has a digit more.
int decimals_of(const ReproducedRow& row) {
  return std::max(decimals_for(row.se.value_or(0)), decimals_for(row.margin.value_or(0) / 10));
}

/// Decimals of what is compared with this limit: one more than the limit has.
int decimals_beside(double limit) {
  const std::string digits = fmt::format("{}", limit);
  const std::size_t point = digits.find('.');
  const std::size_t behind = point == std::string::npos ? 0 : digits.size() - point - 1;
  return static_cast<int>(std::clamp<std::size_t>(behind + 1, 2, 4));
}

int decimals_of(const Claim& claim) {
  if (claim.near) return decimals_for(claim.near->se);
  return decimals_beside(claim.at_most ? *claim.at_most : claim.at_least.value_or(0));
}

std::string with_error(const std::optional<double>& value, const std::optional<double>& error, int decimals) {
  if (!value) return "-";
  const std::string text = fmt::format("{:.{}f}", *value, decimals);
  return error ? fmt::format("{} ± {:.{}f}", text, *error, decimals) : text;
}

/// The block of one column of the table; shows only ours if there are no numbers beside it. `reference` is their name.
std::string table_block(const std::vector<const ReproducedRow*>& rows, std::string_view reference) {
  const bool published = std::ranges::any_of(rows, [](const ReproducedRow* row) { return row->published.has_value(); });
  TextTable table;
  table.columns.push_back({rows.front()->column, true});
  if (published) table.columns.push_back({std::string(reference)});
  table.columns.push_back({"ours"});
  table.columns.push_back({"spread"});
  if (published) table.columns.push_back({"difference"});
  if (published) table.columns.push_back({"margin"});
  if (published) table.columns.push_back({"", true});
  for (const ReproducedRow* row : rows) {
    std::vector<std::string>& line = table.lines.emplace_back();
    const int decimals = decimals_of(*row);
    line.push_back(row->row);
    if (published) line.push_back(with_error(row->published, row->published_se, decimals));
    line.push_back(with_error(row->ours, row->se, decimals));
    line.push_back(with_error(row->spread, {}, decimals));
    if (published)
      line.push_back(row->published ? fmt::format("{:+.{}f}", row->ours - *row->published, decimals) : "-");
    if (published) line.push_back(row->margin ? fmt::format("{:g}", *row->margin) : "-");
    if (published) line.emplace_back(verdict_name(row->verdict));
  }
  return table.text();
}

std::vector<std::string> columns_of(const Reproduction& reproduction) {
  std::vector<std::string> columns;
  for (const ReproducedRow& row : reproduction.rows)
    if (std::ranges::find(columns, row.column) == columns.end()) columns.push_back(row.column);
  return columns;
}

std::string blocks(const Reproduction& reproduction) {
  std::string text = fmt::format("{} repetition{}; ", reproduction.rows.front().repetitions,
                                 reproduction.rows.front().repetitions == 1 ? "" : "s");
  if (reproduction.trimmed > 0)
    text += fmt::format("without the {} smallest and largest of each cell; ", reproduction.trimmed);
  text += "value ± standard error, and the spread over repetitions\n";
  for (const std::string& column : columns_of(reproduction)) {
    std::vector<const ReproducedRow*> rows;
    for (const ReproducedRow& row : reproduction.rows)
      if (row.column == column) rows.push_back(&row);
    text += "\n";
    text += table_block(rows, reference_name(reproduction));
  }
  return text;
}

/// Means of ours, a line per row.
std::string matrix(const Reproduction& reproduction) {
  TextTable table;
  table.columns.push_back({"", true});
  for (const std::string& column : columns_of(reproduction)) table.columns.push_back({column});
  const auto line_of = [&](const std::string& name) -> std::vector<std::string>& {
    for (auto& line : table.lines)
      if (line.front() == name) return line;
    table.lines.emplace_back(table.columns.size(), "-").front() = name;
    return table.lines.back();
  };
  for (const ReproducedRow& row : reproduction.rows) {
    const auto column = std::ranges::find(table.columns, row.column, &TextTable::Column::head);
    line_of(row.row)[static_cast<std::size_t>(column - table.columns.begin())] = fmt::format("{:.4f}", row.ours);
  }
  return "means\n\n" + table.text();
}

/// "24 published cells: 11 agree, 1 differs, 12 cannot tell"; empty where nothing stands beside ours.
std::string verdict_summary(const Reproduction& reproduction) {
  const VerdictCounts counts = count_verdicts(reproduction);
  if (counts.cells == 0) return "";
  const char* cells = counts.cells == 1 ? "cell" : "cells";
  return fmt::format("{}: {} {}, {} {}, {} cannot tell\n",
                     reference_name(reproduction) == "published"
                         ? fmt::format("{} published {}", counts.cells, cells)
                         : fmt::format("{} {} of an earlier study", counts.cells, cells),
                     counts.agree, counts.agree == 1 ? "agrees" : "agree", counts.differ,
                     counts.differ == 1 ? "differs" : "differ", counts.cannot_tell);
}

}  // namespace

std::string reproduction_table(const Reproduction& reproduction) {
  std::string text = verdict_summary(reproduction);
  text += fmt::format("{}: {}{}\n", part_name(reproduction), reproduction.title,
                      reproduction.quick ? " (small version)" : "");
  if (reproduction.rows.empty()) return text;
  text += reproduction.matrix ? matrix(reproduction) : blocks(reproduction);
  if (!reproduction.claims.empty()) text += "\n";
  for (const ReproducedClaim& one : reproduction.claims)
    text += fmt::format("{:<14}  {} (ours {:.{}f})\n", claim_verdict(one), one.claim.text, one.ours,
                        reproduction.matrix ? 4 : decimals_of(one.claim));
  const auto published = [](const ReproducedRow& row) { return row.published.has_value(); };
  if (std::ranges::any_of(reproduction.rows, published)) {
    text += "\n";
    if (count_verdicts(reproduction).cells > 0) text += fmt::format("{}\n", verdict_rule());
    text += fmt::format("{}: {}\n", reference_name(reproduction), reproduction.source);
  }
  if (!reproduction.processor.empty()) text += fmt::format("depends on the processor: {}\n", reproduction.processor);
  for (const std::string& line : reproduction.left_out) text += fmt::format("left out: {}\n", line);
  return text;
}

std::string experiments_text(const std::vector<Experiment>& experiments) {
  std::vector<std::pair<std::string, std::string>> lines;  // what is typed, what it is
  for (const Experiment& experiment : experiments) {
    lines.emplace_back(experiment.name, experiment.title);
    for (const ExperimentItem& item : experiment.items)
      lines.emplace_back(fmt::format("  --{} {}", item.sort, item.name),
                         fmt::format("{} ({})", item.title, counted(item.repetitions, "repetition")));
  }
  constexpr Index page = 100;
  Index width = 0;
  for (const auto& [left, right] : lines) width = std::max(width, display_width(left));
  std::string text;
  for (const auto& [left, right] : lines) text += wrapped(right, page, pad_right(left, width) + "  ");
  return text;
}

}  // namespace ecotone
