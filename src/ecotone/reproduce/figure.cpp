#include "ecotone/reproduce/figure.h"

#include <fmt/format.h>

#include <algorithm>

#include "ecotone/data/formats/csv/csv_field.h"

namespace ecotone {

namespace {

/// The text in quotes.
std::string quoted_name(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

/// A comma and the number; nothing after the comma if the list has no such entry or it is not a number.
void append_entry(std::string& row, const std::vector<double>& list, std::size_t i) {
  row += ',';
  if (i < list.size()) append_csv_value(row, list[i]);
}

}  // namespace

std::string figure_csv(const LineChart& chart) {
  std::string text = chart.x.empty() ? "step" : csv_field(chart.x_title);
  std::size_t steps = 0;
  for (const LineChart::Line& line : chart.lines) {
    text += "," + quoted_name(line.name);
    steps = std::max(steps, line.values.size());
  }
  text += "\n";
  for (std::size_t i = 0; i < steps; ++i) {
    if (chart.x.empty()) text += fmt::format("{}", i + 1);
    if (i < chart.x.size()) append_csv_value(text, chart.x[i]);
    for (const LineChart::Line& line : chart.lines) append_entry(text, line.values, i);
    text += "\n";
  }
  return text;
}

std::string figure_csv(const RegionMap& map) {
  std::string text = "kind,x,y,class\n";
  const double dx = (map.right - map.left) / static_cast<double>(map.score.cols());
  const double dy = (map.top - map.bottom) / static_cast<double>(map.score.rows());
  for (Index r = 0; r < map.score.rows(); ++r)
    for (Index c = 0; c < map.score.cols(); ++c)
      text += fmt::format("grid,{:.6g},{:.6g},{}\n", map.left + (static_cast<double>(c) + 0.5) * dx,
                          map.bottom + (static_cast<double>(r) + 0.5) * dy, map.score(r, c) > 0 ? 1 : -1);
  for (Index i = 0; i < map.points.rows(); ++i)
    text += fmt::format("point,{},{},{}\n", map.points(i, 0), map.points(i, 1),
                        map.classes[static_cast<std::size_t>(i)] > 0 ? 1 : -1);
  return text;
}

std::string figure_csv(const ScatterChart& chart) {
  std::string text = "group,x,y,value\n";
  for (const ScatterChart::Group& group : chart.groups) {
    for (Index i = 0; i < group.points.rows(); ++i) {
      append_csv_field(text, group.name);
      text += ',';
      append_csv_value(text, group.points(i, 0));
      text += ',';
      append_csv_value(text, group.points(i, 1));
      append_entry(text, group.value, at(i));
      text += '\n';
    }
  }
  for (const ScatterChart::Segment& segment : chart.segments) {
    const std::string name = csv_field(segment.name);
    text += fmt::format("{0},{1},{2},\n{0},{3},{4},\n", name, segment.x1, segment.y1, segment.x2, segment.y2);
  }
  return text;
}

std::string figure_csv(const DotChart& chart) {
  std::string text = "category,series,value,spread\n";
  for (std::size_t c = 0; c < chart.categories.size(); ++c) {
    for (const DotChart::Series& series : chart.series) {
      text += csv_field(chart.categories[c]) + "," + csv_field(series.name);
      append_entry(text, series.values, c);
      append_entry(text, series.spread, c);
      text += '\n';
    }
  }
  return text;
}

}  // namespace ecotone
