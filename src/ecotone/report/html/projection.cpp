#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ecotone/report/html/charts/curve_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr double plane_size = 380, plane_margin = 14;
constexpr std::size_t coloured = chart_lines - 1;  // domains that have a colour of their own

/// The domains with most rows have colours, all others are grey.
std::map<Index, std::size_t> colours_of(const Projections& projections) {
  std::map<Index, std::size_t> rows;
  for (const Index domain : projections.domain) ++rows[domain];
  std::vector<Index> order;
  for (const auto& [domain, count] : rows) order.push_back(domain);
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](Index domain) { return rows[domain]; });
  std::map<Index, std::size_t> colours;
  for (std::size_t i = 0; i < order.size(); ++i) colours[order[i]] = std::min(i, coloured);
  return colours;
}

/// From the 1st to the 99th percentile, so that a few rows do not push all others together.
struct PlaneRange {
  double low = 0, high = 1;

  explicit PlaneRange(std::vector<double> values) {
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty()) return;
    std::ranges::sort(values);
    low = values[values.size() / 100];
    high = values[values.size() - 1 - values.size() / 100];
    if (!(high > low)) high = low + 1;
  }
  double place(double value) const { return std::clamp((value - low) / (high - low), 0.0, 1.0); }
};

std::string plane_figure(const Projections& projections, const Projection& plane, std::string_view words,
                         const std::map<Index, std::size_t>& colours) {
  Svg svg(plane_size, plane_size, fmt::format("Rows in the plane of {}, coloured by domain.", plane.pipeline));
  const PlaneRange across(plane.x), upward(plane.y);
  const double inner = plane_size - 2 * plane_margin;
  std::vector<std::vector<std::string>> table = {{"domain", "class", "x", "y"}};
  for (std::size_t i = 0; i < plane.x.size(); ++i) {
    const std::string& domain = projections.domains[at(projections.domain[i])];
    // With two classes the second is filled; otherwise all are.
    const bool filled = projections.classes.size() != 2 || projections.cls[i] == 1;
    const std::string label = projections.cls.empty() ? "" : projections.classes[at(projections.cls[i])];
    table.push_back({domain, label, plain_number(plane.x[i]), plain_number(plane.y[i])});
    if (!std::isfinite(plane.x[i]) || !std::isfinite(plane.y[i])) continue;
    svg.circle(plane_margin + inner * across.place(plane.x[i]), plane_margin + inner * (1 - upward.place(plane.y[i])),
               3, fmt::format("row-dot {}s{}", filled ? "" : "hollow ", colours.at(projections.domain[i])),
               label.empty() ? domain : fmt::format("{}, {}", domain, label));
  }
  return figure({.name = plane.pipeline,
                 .caption = fmt::format("<strong>{}</strong>: <code>{}</code>", words, escape(plane.pipeline)),
                 .wide = std::move(svg).done(),
                 .narrow = {},
                 .table = std::move(table)});
}

}  // namespace

Panel projection_panel(const Projections& projections) {
  if (projections.planes.empty()) return {};
  const std::map<Index, std::size_t> colours = colours_of(projections);
  std::string legend;
  for (const auto& [domain, colour] : colours)
    if (colour < coloured)
      legend +=
          fmt::format("<li><i class=\"key-row s{}\"></i> {}</li>", colour, escape(projections.domains[at(domain)]));
  if (colours.size() > coloured) legend += fmt::format("<li><i class=\"key-row s{}\"></i> all others</li>", coloured);
  std::string figures;
  for (const Projection& plane : projections.planes)
    figures += plane_figure(projections, plane, plane.pipeline.find("dica") == std::string::npos ? "Before" : "After",
                            colours);
  return {
      "projections", "The rows before and after domains are made alike",
      fmt::format(
          "<p class=\"note\">{} rows in the two strongest kernel components, and in those that the label "
          "explains and that vary little between domains (of two classes there is one: each domain then has a strip). "
          "{}Colours that lie apart are domains that a model "
          "can tell apart.</p>\n<ul class=\"legend\">{}</ul>\n<div class=\"small-charts\">\n{}</div>\n",
          projections.domain.size(),
          projections.classes.size() == 2 ? fmt::format("Filled: <strong>{}</strong>. ", escape(projections.classes[1]))
                                          : "",
          legend, figures)};
}

}  // namespace ecotone::report
