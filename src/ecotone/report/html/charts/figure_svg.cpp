#include "ecotone/report/html/charts/figure_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ecotone/report/html/charts/figure_frame.h"
#include "ecotone/report/html/page.h"

namespace ecotone {

namespace figure_parts {
namespace {

constexpr std::string_view level_dashes = "2 3";

/// Of line i; short ones where the colours begin again.
std::string_view dashes_of(const LineChart::Line& line, std::size_t i) {
  return line.dashed ? "7 4" : i >= colour_count ? "3 3" : "";
}

/// Maps positions and values of a line chart into the picture.
struct LineFrame {
  Plot plot;
  bool logarithmic = true;
  double low = 1, high = 1;  ///< positions of the first and the last value
  RoundAxis values = RoundAxis::up_to(0, 1);

  double x(double position) const {
    if (!(high > low)) return plot.left;
    const double share = logarithmic ? (std::log(position) - std::log(low)) / (std::log(high) - std::log(low))
                                     : (position - low) / (high - low);
    return plot.x(std::clamp(share, 0.0, 1.0));
  }
  double y(double value) const { return plot.y(values.share(value)); }
};

/// Where the values of the lines lie.
std::vector<double> line_positions(const LineChart& chart) {
  if (!chart.x.empty()) return chart.x;
  std::size_t longest = 1;
  for (const LineChart::Line& line : chart.lines) longest = std::max(longest, line.values.size());
  std::vector<double> steps;
  for (std::size_t i = 1; i <= longest; ++i) steps.push_back(static_cast<double>(i));
  return steps;
}

LineFrame line_frame(const LineChart& chart, const std::vector<double>& positions) {
  LineFrame frame;
  frame.low = bounded(positions.front());
  frame.high = bounded(positions.back());
  frame.logarithmic = chart.logarithmic && frame.low > 0;
  Range range;
  range.cover(chart.bottom);
  if (chart.level) range.cover(*chart.level);
  for (const LineChart::Line& line : chart.lines)
    for (const double value : line.values) range.cover(value);
  frame.values = RoundAxis::up_to(bounded(chart.bottom), range.high);
  frame.plot.left = left_of(frame.values);
  return frame;
}

/// 1, 2 and 5 times powers of ten, the powers alone where there are many, round numbers where there are few.
std::vector<double> log_ticks(double low, double high) {
  if (!(high > low)) return {low};
  const double decades = std::log10(high) - std::log10(low);
  const double every = std::max(1.0, std::ceil(decades / 12));
  std::vector<double> ticks;
  for (double power = std::floor(std::log10(low)); power <= std::log10(high) + 1e-9; power += every)
    for (const double lead : {1.0, 2.0, 5.0})
      if (const double tick = lead * std::pow(10, power);
          tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9) && (lead == 1 || decades <= 4))
        ticks.push_back(tick);
  return ticks.size() > 1 ? ticks : RoundAxis::between(low, high).ticks();
}

std::string line_axes(const LineFrame& frame, const LineChart& chart) {
  std::string svg = value_axis(frame.values, frame.plot, chart.y_title);
  const RoundAxis across = RoundAxis::between(frame.low, frame.high);
  for (const double tick : frame.logarithmic ? log_ticks(frame.low, frame.high) : across.ticks())
    svg += tick_below(frame.x(tick), frame.plot,
                      frame.logarithmic && tick < 1e-3 ? short_number(tick)
                      : frame.logarithmic              ? fmt::format("{:.10g}", tick)
                                                       : across.label(tick));
  return svg + text(frame.plot.x(0.5), frame.plot.base() + 40, "middle",
                    chart.x_title + (frame.logarithmic ? " (log scale)" : ""));
}

/// The values that are numbers, as a stroke; one for each part between gaps.
std::string polylines(const LineFrame& frame, const std::vector<double>& positions, const LineChart& chart,
                      std::size_t number) {
  const std::vector<double>& values = chart.lines[number].values;
  const std::string_view dashes = dashes_of(chart.lines[number], number);
  const std::size_t size = std::min(values.size(), positions.size());
  std::string svg, points;
  const auto finish = [&] {
    if (!points.empty())
      svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", points,
                         colour_of(number), dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
    points.clear();
  };
  for (std::size_t i = 0; i < size; ++i) {
    if (!std::isfinite(values[i])) {
      finish();
      continue;
    }
    // Draw runs of equal values as one stroke.
    const bool flat = i > 0 && i + 1 < size && values[i - 1] == values[i] && values[i] == values[i + 1];
    if (!flat) points += fmt::format("{:.1f},{:.1f} ", frame.x(positions[i]), frame.y(values[i]));
  }
  finish();
  return svg;
}

Legend line_legend(const LineChart& chart, double right) {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < chart.lines.size(); ++i)
    entries.push_back(
        {chart.lines[i].name, [colour = colour_of(i), dashes = dashes_of(chart.lines[i], i)](double x, double y) {
           if (!dashes.empty()) return stroke(x - 4, y, x + 14, y, colour, dashes);
           return fmt::format("<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"14\" height=\"4\" fill=\"{}\"/>\n", x, y - 2,
                              colour);
         }});
  return legend_of(entries, right);
}

/// Runs of cells of the second class in one row as rectangles.
std::string region(const RegionMap& map, double width, double height) {
  const double w = width / static_cast<double>(map.score.cols()), h = height / static_cast<double>(map.score.rows());
  std::string svg = fmt::format(
      "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" fill=\"#fbe3d6\"/>\n<g fill=\"#d3e6f6\">\n",
      margin_left, margin_top, width, height);
  for (Index r = 0; r < map.score.rows(); ++r) {
    for (Index c = 0; c < map.score.cols();) {
      Index end = c;
      while (end < map.score.cols() && map.score(r, end) > 0) ++end;
      // A little higher than a cell, so that no gap shows between rows.
      if (end > c)
        svg +=
            fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>\n",
                        margin_left + static_cast<double>(c) * w, margin_top + height - static_cast<double>(r + 1) * h,
                        static_cast<double>(end - c) * w, r == 0 ? h : h + 0.3);
      c = std::max(end, c + 1);
    }
  }
  return svg + "</g>\n";
}

}  // namespace
}  // namespace figure_parts

std::string figure_svg(const LineChart& chart) {
  using namespace figure_parts;
  const std::vector<double> positions = line_positions(chart);
  LineFrame frame = line_frame(chart, positions);
  const double width = frame.plot.right() + margin_right;
  const Legend legend = line_legend(chart, width);
  frame.plot.top += legend.below;
  std::string svg = begin(width, frame.plot.base() + margin_bottom, chart.title);
  svg += line_axes(frame, chart);
  if (chart.level)
    svg +=
        stroke(frame.plot.left, frame.y(*chart.level), frame.plot.right(), frame.y(*chart.level), "#777", level_dashes);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) svg += polylines(frame, positions, chart, i);
  return svg + legend.svg + "</svg>\n";
}

std::string figure_svg(const RegionMap& map) {
  using namespace figure_parts;
  const double width = 480;
  const double height = width * (map.top - map.bottom) / (map.right - map.left);
  std::string svg = begin(margin_left + width + margin_right + 40, margin_top + height + margin_bottom, map.title);
  svg += region(map, width, height);
  const auto x = [&](double value) { return margin_left + (value - map.left) / (map.right - map.left) * width; };
  const auto y = [&](double value) { return margin_top + (map.top - value) / (map.top - map.bottom) * height; };
  for (double tick = std::ceil(map.left) + 0.0; tick <= map.right; ++tick) {
    svg += rule(x(tick), margin_top + height, x(tick), margin_top + height + 5, "#555");
    svg += text(x(tick), margin_top + height + 19, "middle", fmt::format("{:.0f}", tick));
  }
  for (double tick = std::ceil(map.bottom) + 0.0; tick <= map.top; ++tick) {
    svg += rule(margin_left - 5, y(tick), margin_left, y(tick), "#555");
    svg += text(margin_left - 9, y(tick) + 4, "end", fmt::format("{:.0f}", tick));
  }
  svg += text(margin_left + width / 2, margin_top + height + 40, "middle", "x1");
  svg += upward(margin_top + height / 2, "x2");
  for (Index i = 0; i < map.points.rows(); ++i)
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.2\" fill=\"{}\"/>\n", x(map.points(i, 0)),
                       y(map.points(i, 1)), map.classes[static_cast<std::size_t>(i)] > 0 ? colour_of(0) : colour_of(1));
  svg += fmt::format("<circle cx=\"{0:.0f}\" cy=\"42\" r=\"4\" fill=\"{1}\"/>", margin_left + 6, colour_of(0));
  svg += text(margin_left + 16, 46, "start", "class +1");
  svg += fmt::format("<circle cx=\"{0:.0f}\" cy=\"42\" r=\"4\" fill=\"{1}\"/>", margin_left + 96, colour_of(1));
  svg += text(margin_left + 106, 46, "start", "class -1");
  return svg + "</svg>\n";
}

}  // namespace ecotone
