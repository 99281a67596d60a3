#include "ecotone/report/html/charts/curve_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/html/charts/axis.h"
#include "ecotone/report/html/page.h"

namespace ecotone::report {

namespace {

constexpr double chart_left = 58, chart_right = 40, chart_top = 14, chart_bottom = 46;
constexpr std::size_t most_points = 400;  // of a line: more cannot be seen

/// Where values stand in the picture.
struct Plane {
  Axis x_axis, y_axis;
  double width = 0, height = 0;  ///< between the margins

  double x(double value) const { return chart_left + width * x_axis.place(value) / 100; }
  double y(double value) const { return chart_top + height * (1 - y_axis.place(value) / 100); }
};

Plane plane_of(const CurveChart& chart) {
  Plane plane{.x_axis = {},
              .y_axis = {},
              .width = chart.width - chart_left - chart_right,
              .height = chart.height - chart_top - chart_bottom};
  for (const ChartLine& line : chart.lines) {
    for (const double value : line.x) plane.x_axis.cover(value);
    for (const auto* values : {&line.y, &line.low, &line.high})
      for (const double value : *values) plane.y_axis.cover(value);
  }
  for (const ChartGuide& guide : chart.guides) plane.y_axis.cover(guide.y);
  for (const double value : chart.cover) plane.y_axis.cover(value);
  for (const double value : chart.x_cover) plane.x_axis.cover(value);
  plane.x_axis.close();
  plane.y_axis.close();
  return plane;
}

std::string svg_text(double x, double y, std::string_view anchor, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escape(words));
}

std::string axis_lines(const CurveChart& chart, const Plane& plane) {
  std::string svg;
  const double base = chart_top + plane.height;
  for (const Axis::Tick& tick : plane.y_axis.ticks()) {
    const double y = plane.y(tick.value);
    svg += fmt::format("<line class=\"rule\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", chart_left,
                       y, chart_left + plane.width, y);
    svg += svg_text(chart_left - 8, y + 4, "end", tick.label);
  }
  for (const Axis::Tick& tick : plane.x_axis.ticks()) {
    const double x = plane.x(tick.value);
    svg += fmt::format("<line class=\"mark\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", x, base,
                       base + 5);
    svg += svg_text(x, base + 19, "middle", tick.label);
  }
  svg += svg_text(chart_left + plane.width / 2, base + 39, "middle", chart.x_title);
  const double middle = chart_top + plane.height / 2;
  return svg +
         fmt::format(
             "<text x=\"14\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {0:.1f})\">{1}</text>\n",
             middle, escape(chart.y_title));
}

/// The places of a line that are drawn, the first and the last among them.
std::vector<std::size_t> drawn_places(std::size_t size) {
  std::vector<std::size_t> places;
  const std::size_t step = std::max<std::size_t>(1, (size + most_points - 1) / most_points);
  for (std::size_t i = 0; i < size; i += step) places.push_back(i);
  if (size > 0 && places.back() + 1 != size) places.push_back(size - 1);
  return places;
}

std::string path_of(const Plane& plane, const ChartLine& line, const std::vector<double>& y,
                    const std::vector<std::size_t>& places) {
  std::string points;
  for (const std::size_t i : places) points += fmt::format("{:.1f},{:.1f} ", plane.x(line.x[i]), plane.y(y[i]));
  return points;
}

std::string band(const Plane& plane, const ChartLine& line) {
  if (line.low.empty()) return "";
  std::vector<std::size_t> places = drawn_places(line.x.size());
  std::string points = path_of(plane, line, line.high, places);
  std::ranges::reverse(places);
  points += path_of(plane, line, line.low, places);
  return fmt::format("<polygon class=\"band s{}\" points=\"{}\"/>\n", line.number % chart_lines, points);
}

std::string stroke(const Plane& plane, const ChartLine& line) {
  if (line.x.empty()) return "";
  return fmt::format("<polyline class=\"curve s{}{}\" points=\"{}\"/>\n", line.number % chart_lines,
                     line.thin ? " thin" : "", path_of(plane, line, line.y, drawn_places(line.x.size())));
}

std::string point_marks(const Plane& plane, const ChartLine& line) {
  std::string svg;
  for (std::size_t i = 0; line.dots && i < line.x.size(); ++i)
    svg += fmt::format("<circle class=\"point s{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\"/>\n",
                       line.number % chart_lines, plane.x(line.x[i]), plane.y(line.y[i]));
  return svg;
}

/// The names at the ends of the lines, moved apart where they would cover each other.
std::string end_names(const Plane& plane, const std::vector<ChartLine>& lines) {
  constexpr double least = 14;
  struct End {
    double x, y;
    const ChartLine* line;
  };
  std::vector<End> ends;
  for (const ChartLine& line : lines)
    if (!line.x.empty()) ends.push_back({plane.x(line.x.back()), plane.y(line.y.back()) + 4, &line});
  std::ranges::stable_sort(ends, {}, &End::y);
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i].y = std::max(ends[i].y, ends[i - 1].y + least);
  std::string svg;
  for (const End& end : ends)
    svg += fmt::format("<text class=\"name s{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", end.line->number % chart_lines,
                       end.x + 6, end.y, escape(end.line->name));
  return svg;
}

std::string guide_line(const Plane& plane, const ChartGuide& guide) {
  const double y = plane.y(guide.y);
  return fmt::format("<line class=\"guide\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", chart_left, y,
                     chart_left + plane.width, y) +
         svg_text(chart_left + 6, y - 5, "start", guide.name);
}

}  // namespace

std::string curve_chart(const CurveChart& chart) {
  const Plane plane = plane_of(chart);
  std::string svg = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n",
                                chart.width, chart.height, escape(chart.description));
  svg += axis_lines(chart, plane);
  for (const ChartLine& line : chart.lines) svg += band(plane, line);
  for (const ChartGuide& guide : chart.guides) svg += guide_line(plane, guide);
  for (const ChartLine& line : chart.lines) svg += stroke(plane, line);
  for (const ChartLine& line : chart.lines) svg += point_marks(plane, line);
  return svg + (chart.names ? end_names(plane, chart.lines) : "") + "</svg>\n";
}

std::string line_key(std::size_t number) {
  return fmt::format(
      "<svg class=\"line-key\" viewBox=\"0 0 28 10\" aria-hidden=\"true\"><polyline class=\"curve s{}\" "
      "points=\"1,5 27,5\"/></svg>",
      number % chart_lines);
}

}  // namespace ecotone::report
