#include <fmt/format.h>

#include <cmath>

#include "ecotone/report/html/charts/curve_chart.h"
#include "ecotone/report/html/charts/strip_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr std::size_t most_strips = 15;  // features with a strip

std::string effect_figure(const WholeModel& whole) {
  if (whole.effects.empty()) return "";
  StripChart chart{.description = "Weights of the features, per standard deviation.",
                   .axis_title = "change of the score per standard deviation",
                   .rows = {},
                   .line = 0.0};
  std::vector<std::vector<std::string>> table = {{"feature", "weight", "per_standard_deviation"}};
  for (const FeatureEffect& effect : whole.effects) {
    table.push_back({effect.feature, plain_number(effect.weight), plain_number(effect.per_deviation)});
    if (chart.rows.size() == most_strips || !std::isfinite(effect.per_deviation)) continue;
    StripRow row{.tag = {}, .name = effect.feature, .figure = signed_number(effect.per_deviation)};
    row.band = std::minmax(0.0, effect.per_deviation);
    row.band_look = effect.per_deviation < 0 ? "interval worse" : "interval better";
    row.dots.push_back({.value = effect.per_deviation,
                        .name = {},
                        .note = fmt::format("{}: {} per unit", effect.feature, signed_number(effect.weight)),
                        .look = effect.per_deviation < 0 ? "dot worse" : "dot"});
    chart.description += fmt::format(" {}: {}.", effect.feature, signed_number(effect.per_deviation));
    chart.rows.push_back(std::move(row));
  }
  if (chart.rows.empty()) return "";
  return figure({.name = "weights",
                 .caption = fmt::format(
                     "<strong>Weights</strong>{}: right of zero speaks for {}",
                     whole.effects.size() > chart.rows.size()
                         ? fmt::format(" of the {} strongest of {} features", chart.rows.size(), whole.effects.size())
                         : "",
                     whole.classes.size() == 2 ? escape(whole.classes[1]) : "larger numbers"),
                 .wide = strip_chart(chart, wide_picture),
                 .narrow = strip_chart(chart, narrow_picture),
                 .table = std::move(table)});
}

std::string history_figure(const WholeModel& whole) {
  if (whole.history.empty()) return "";
  CurveChart chart;
  chart.x_title = "rounds";
  chart.y_title = "share of rows";
  chart.width = 420;
  chart.height = 280;
  chart.names = false;
  chart.cover = {0};
  chart.description = "Boosting, round by round.";
  std::string legend;
  std::vector<std::vector<std::string>> table = {{"line", "round", "value"}};
  for (std::size_t l = 0; l < whole.history.size(); ++l) {
    const BoostingLine& line = whole.history[l];
    ChartLine drawn{.number = l, .name = line.name, .x = {}, .y = {}, .low = {}, .high = {}};
    for (std::size_t i = 0; i < line.values.size(); ++i) {
      table.push_back({line.name, fmt::format("{}", i + 1), plain_number(line.values[i])});
      if (!std::isfinite(line.values[i])) continue;
      drawn.x.push_back(static_cast<double>(i + 1));
      drawn.y.push_back(line.values[i]);
    }
    if (drawn.y.empty()) continue;
    legend += fmt::format(" {} {}", line_key(l), escape(line.name));
    chart.description += fmt::format(" {}: {} at the end.", line.name, number(drawn.y.back()));
    chart.lines.push_back(std::move(drawn));
  }
  if (chart.lines.empty()) return "";
  return figure({.name = "boosting",
                 .caption = "<strong>Boosting</strong>, round by round:" + legend,
                 .wide = curve_chart(chart),
                 .narrow = {},
                 .table = std::move(table)});
}

/// Runs of cells of one class as rectangles, rows of the data on top.
std::string regions_figure(const WholeModel& whole) {
  if (!whole.regions) return "";
  const DecisionRegions& regions = *whole.regions;
  constexpr double size = 360, foot = 26;
  Svg svg(
      size + foot, size + foot,
      fmt::format("What the model answers for each {} and {}, and rows of the data.", regions.x_name, regions.y_name));
  const double width = size / static_cast<double>(regions.cells.front().size());
  const double height = size / static_cast<double>(regions.cells.size());
  const auto look = [](Index cls) { return fmt::format("s{}", static_cast<std::size_t>(cls) % chart_lines); };
  for (std::size_t r = 0; r < regions.cells.size(); ++r) {
    const std::vector<Index>& row = regions.cells[r];
    for (std::size_t c = 0; c < row.size();) {
      std::size_t end = c;
      while (end < row.size() && row[end] == row[c]) ++end;
      // A little larger than the cells, so that no gap shows between them.
      svg.rect(foot + width * static_cast<double>(c), size - height * static_cast<double>(r + 1),
               width * static_cast<double>(end - c) + 0.3, height + 0.3, "region " + look(row[c]));
      c = end;
    }
  }
  std::vector<std::vector<std::string>> table = {{regions.x_name, regions.y_name, "class"}};
  for (std::size_t i = 0; i < regions.x.size(); ++i) {
    const std::string& name = whole.classes[at(regions.cls[i])];
    svg.circle(foot + size * (regions.x[i] - regions.left) / (regions.right - regions.left),
               size - size * (regions.y[i] - regions.bottom) / (regions.top - regions.bottom), 2.6,
               "row-dot " + look(regions.cls[i]), name);
    table.push_back({plain_number(regions.x[i]), plain_number(regions.y[i]), name});
  }
  svg.text(foot + size / 2, size + 18, "middle", fitted(regions.x_name, size));
  svg.upward_text(16, size / 2, "middle", fitted(regions.y_name, size));
  std::string legend;
  for (std::size_t k = 0; k < whole.classes.size(); ++k)
    legend += fmt::format(" <i class=\"key-row {}\"></i> {}", look(static_cast<Index>(k)), escape(whole.classes[k]));
  return figure({.name = "decision-regions",
                 .caption = "<strong>Decision regions</strong>:" + legend,
                 .wide = std::move(svg).done(),
                 .narrow = {},
                 .table = std::move(table)});
}

}  // namespace

Panel whole_model_panel(const WholeModel& whole) {
  const std::string small = history_figure(whole) + regions_figure(whole);
  const std::string figures =
      effect_figure(whole) + (small.empty() ? "" : fmt::format("<div class=\"small-charts\">\n{}</div>\n", small));
  if (figures.empty()) return {};
  return {"inside", "Inside the model",
          fmt::format("<p class=\"note\"><code>{}</code> fitted on all labelled rows.</p>\n{}", escape(whole.pipeline),
                      figures)};
}

}  // namespace ecotone::report
