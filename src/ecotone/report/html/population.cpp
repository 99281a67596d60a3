#include <fmt/format.h>

#include <numeric>

#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr std::size_t most_levels = 6;  // of a text column that are listed

std::string percent_of(double share) { return fmt::format("{:.1f}%", 100 * share); }

std::string number_cell(const ColumnFigures& figures) {
  std::string text = figures.mean ? fmt::format("{:.4g}", *figures.mean) : "–";
  if (figures.sd) text += fmt::format("<small>± {:.3g}</small>", *figures.sd);
  return fmt::format("<td class=\"num\">{}</td>", text);
}

std::string number_rows(const ColumnSummary& column) {
  std::string cells = number_cell(column.of_all);
  for (const ColumnFigures& figures : column.of_domain) cells += number_cell(figures);
  return fmt::format("<tr><th scope=\"row\">{}<small>mean ± sd{}</small></th>{}</tr>\n", escape(column.name),
                     column.kind == ColumnKind::date ? ", days since 1970" : "", cells);
}

std::string level_rows(const ColumnSummary& column) {
  std::string rows;
  for (std::size_t k = 0; k < std::min(column.levels.size(), most_levels); ++k) {
    std::string cells = fmt::format("<td class=\"num\">{}</td>", percent_of(column.of_all.share[k]));
    for (const ColumnFigures& figures : column.of_domain)
      cells += fmt::format("<td class=\"num\">{}</td>", percent_of(figures.share[k]));
    rows += fmt::format("<tr><th scope=\"row\">{} = {}</th>{}</tr>\n", escape(column.name), escape(column.levels[k]),
                        cells);
  }
  if (column.levels.size() > most_levels)
    rows += fmt::format("<tr><th scope=\"row\">{}<small>{} more levels</small></th></tr>\n", escape(column.name),
                        column.levels.size() - most_levels);
  return rows;
}

std::string missing_row(const ColumnSummary& column) {
  if (column.of_all.missing == 0) return "";
  std::string cells = fmt::format("<td class=\"num\">{}</td>", percent_of(column.of_all.missing));
  for (const ColumnFigures& figures : column.of_domain)
    cells += fmt::format("<td class=\"num\">{}</td>", percent_of(figures.missing));
  return fmt::format("<tr class=\"missing\"><th scope=\"row\">{}, missing</th>{}</tr>\n", escape(column.name), cells);
}

std::string count_row(std::string_view name, const std::vector<Index>& counts, const std::vector<Index>& full) {
  const Index all = std::accumulate(full.begin(), full.end(), Index{0});
  std::string cells;
  for (const Index count : counts) cells += fmt::format("<td class=\"num\">{}</td>", count);
  return fmt::format("<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td>{}</tr>\n", name, all, cells);
}

/// The mean over the labelled rows of all domains; empty without any.
template <class ValueOf>
Value over_all(const Population& full, const ValueOf& value_of_domain) {
  double weight = 0, sum = 0;
  for (std::size_t d = 0; d < full.domains.size(); ++d)
    if (const Value value = value_of_domain(d)) {
      weight += static_cast<double>(full.labelled[d]);
      sum += static_cast<double>(full.labelled[d]) * *value;
    }
  return weight > 0 ? Value(sum / weight) : std::nullopt;
}

std::string label_rows_of(const Population& population, const Population& full) {
  std::string rows = population.labelled.empty() ? "" : count_row("with a label", population.labelled, full.labelled);
  const auto share_text = [](const Value& share) { return share ? percent_of(*share) : std::string("–"); };
  for (std::size_t k = 0; k < population.classes.size(); ++k) {
    const auto share_of = [k](const std::vector<double>& share) { return share.empty() ? Value() : Value(share[k]); };
    const Value all = over_all(full, [&](std::size_t d) { return share_of(full.class_share[d]); });
    std::string cells = fmt::format("<td class=\"num\">{}</td>", share_text(all));
    for (const auto& share : population.class_share)
      cells += fmt::format("<td class=\"num\">{}</td>", share_text(share_of(share)));
    rows += fmt::format("<tr><th scope=\"row\">{} = {}</th>{}</tr>\n", escape(population.label),
                        escape(population.classes[k]), cells);
  }
  if (population.label_mean.empty()) return rows;
  const Value all = over_all(full, [&](std::size_t d) { return full.label_mean[d]; });
  std::string cells = fmt::format("<td class=\"num\">{}</td>", number(all));
  for (const auto& mean : population.label_mean) cells += fmt::format("<td class=\"num\">{}</td>", number(mean));
  return rows +
         fmt::format("<tr><th scope=\"row\">{}<small>mean</small></th>{}</tr>\n", escape(population.label), cells);
}

/// "; 3 further columns are not shown"
std::string further_text(Index count, std::string_view what) {
  if (count <= 0) return "";
  return fmt::format("; {} further {} not shown", count,
                     count == 1 ? fmt::format("{} is", what) : fmt::format("{}s are", what));
}

}  // namespace

Panel population_panel(const Population& population, const Population& full) {
  std::string head = "<th scope=\"col\" class=\"num\">all</th>";
  for (const std::string& name : population.domains)
    head += fmt::format("<th scope=\"col\" class=\"num\">{}</th>", escape(name));
  std::string body = count_row("rows", population.rows, full.rows) + label_rows_of(population, full);
  for (const ColumnSummary& column : population.columns)
    body += (column.kind == ColumnKind::categorical ? level_rows(column) : number_rows(column)) + missing_row(column);
  const std::string table = fmt::format(
      "<table>\n<caption>All rows that were read{}</caption>\n<thead><tr><th scope=\"col\"></th>{}</tr></thead>\n"
      "<tbody>\n{}</tbody>\n</table>\n",
      further_text(population.further_columns, "column") +
          further_text(std::ssize(full.domains) - std::ssize(population.domains), "domain"),
      head, body);
  return {"population", "Who is in the data", framed("Who is in the data", table)};
}

}  // namespace ecotone::report
