#include <fmt/format.h>

#include "ecotone/report/html/charts/figure_svg.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

std::string with_error_html(const std::optional<double>& value, const std::optional<double>& error) {
  if (!value) return "–";
  return number(value) + (error ? fmt::format("<small>± {}</small>", number(error)) : "");
}

std::string reproduced_table(const Reproduction& reproduction) {
  std::string body;
  for (const ReproducedRow& row : reproduction.rows)
    body += fmt::format(
        "<tr><th scope=\"row\">{}<small>{}</small></th><td class=\"num\">{}</td><td class=\"num\">{}</td><td "
        "class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td></tr>\n",
        escape(row.row), escape(row.column), with_error_html(row.published, row.published_se),
        with_error_html(row.ours, row.se), row.spread ? number(row.spread) : "–",
        row.published ? signed_number(row.ours - *row.published) : "–",
        row.verdict == Verdict::none ? "" : verdict_name(row.verdict));
  return framed(
      "Published and ours",
      fmt::format(
          "<table class=\"sortable\">\n<caption>{}; value ± standard error</caption>\n<thead><tr><th "
          "scope=\"col\">cell</th><th scope=\"col\" class=\"num\">{}</th><th scope=\"col\" "
          "class=\"num\">ours</th><th scope=\"col\" class=\"num\">spread</th><th scope=\"col\" "
          "class=\"num\">difference</th><th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
          escape(reproduction.metric), reference_name(reproduction), body));
}

std::string claim_list(const Reproduction& reproduction) {
  std::string items;
  for (const ReproducedClaim& one : reproduction.claims)
    items += fmt::format("<li><strong>{}</strong>: {} (ours {})</li>\n", claim_verdict(one), escape(one.claim.text),
                         number(one.ours));
  for (const std::string& text : reproduction.left_out)
    items += fmt::format("<li><strong>left out</strong>: {}</li>\n", escape(text));
  return items.empty() ? "" : fmt::format("<ul class=\"advice\">\n{}</ul>\n", items);
}

std::string figures_html(const Figures& figures) {
  std::string html;
  const auto add = [&](const auto& drawn) {
    html += figure({.name = drawn.name,
                    .caption = {},
                    .wide = figure_svg(drawn),
                    .narrow = {},
                    .table = {},
                    .csv = figure_csv(drawn)});
  };
  for (const LineChart& chart : figures.charts) add(chart);
  for (const ScatterChart& chart : figures.scatters) add(chart);
  for (const DotChart& chart : figures.dots) add(chart);
  for (const RegionMap& map : figures.maps) add(map);
  return html;
}

}  // namespace

Panel reproduction_panel(const Reproduction& reproduction, std::size_t number_of_it) {
  std::string html =
      fmt::format("<p class=\"note\">{} · {}</p>\n", escape(part_name(reproduction)), escape(reproduction.source));
  if (const VerdictCounts counts = count_verdicts(reproduction); counts.cells > 0)
    html += fmt::format(
        "<p>Of {} {} numbers, <strong>{}</strong> agree, <strong>{}</strong> differ, and of {} nothing "
        "can be told. {}</p>\n",
        counts.cells, reference_name(reproduction), counts.agree, counts.differ, counts.cannot_tell,
        escape(verdict_rule()));
  if (reproduction.quick)
    html += "<p>A small version of the experiment: it shows that it runs, not what it finds.</p>\n";
  html += claim_list(reproduction) + figures_html(reproduction.figures) + reproduced_table(reproduction);
  return {fmt::format("reproduction-{}", number_of_it), escape(reproduction.title), std::move(html)};
}

}  // namespace ecotone::report
