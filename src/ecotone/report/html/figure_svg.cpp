#include "ecotone/report/html/figure_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ecotone/report/html/page.h"

namespace ecotone {
namespace {

constexpr std::string_view colours[] = {"#0b5fa5", "#c2410c", "#4d7c0f", "#7e22ce"};
constexpr double margin_left = 62, margin_right = 16, margin_top = 64, margin_bottom = 48;

std::string begin(double width, double height, const std::string& title) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"13\" role=\"img\">\n<title>{2}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{3:.0f}\" y=\"24\" font-size=\"15\" font-weight=\"600\">{2}</text>\n",
      width, height, report::escape(title), margin_left);
}

std::string text(double x, double y, std::string_view anchor, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     report::escape(words));
}

std::string rule(double x1, double y1, double x2, double y2, std::string_view colour) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                     colour);
}

/// The title of a vertical axis, centred on it.
std::string upward(double middle, const std::string& words) {
  return fmt::format(
      "<text x=\"18\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {0:.1f})\">{1}</text>\n", middle,
      report::escape(words));
}

/// Maps steps and values to positions.
struct Frame {
  double width = 560, height = 300;
  double steps = 1, top = 1;

  double x(double step) const { return margin_left + (steps > 1 ? std::log(step) / std::log(steps) : 0.0) * width; }
  double y(double value) const { return margin_top + (1 - value / top) * height; }
};

std::string axes(const Frame& frame, const LineChart& chart) {
  std::string svg;
  for (int tick = 0; tick <= 5; ++tick) {
    const double value = frame.top * tick / 5;
    svg += rule(margin_left, frame.y(value), margin_left + frame.width, frame.y(value), tick == 0 ? "#555" : "#e2e2e2");
    svg += text(margin_left - 8, frame.y(value) + 4, "end", fmt::format("{:.3g}", value));
  }
  for (double power = 1; power <= frame.steps; power *= 10) {
    for (const double lead : {1.0, 2.0, 5.0}) {
      if (lead * power > frame.steps) continue;
      const double x = frame.x(lead * power);
      svg += rule(x, margin_top + frame.height, x, margin_top + frame.height + 5, "#555");
      svg += text(x, margin_top + frame.height + 19, "middle", fmt::format("{:.0f}", lead * power));
    }
  }
  svg += text(margin_left + frame.width / 2, margin_top + frame.height + 40, "middle", chart.x_title + " (log scale)");
  return svg + upward(margin_top + frame.height / 2, chart.y_title);
}

std::string polyline(const Frame& frame, const std::vector<double>& values, std::string_view colour) {
  std::string points;
  // Draw runs of equal values as one stroke.
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool flat = i > 0 && i + 1 < values.size() && values[i - 1] == values[i] && values[i] == values[i + 1];
    if (!flat) points += fmt::format("{:.1f},{:.1f} ", frame.x(static_cast<double>(i + 1)), frame.y(values[i]));
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, colour);
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

std::string figure_svg(const LineChart& chart) {
  Frame frame;
  double largest = 0;
  for (const LineChart::Line& line : chart.lines) {
    frame.steps = std::max(frame.steps, static_cast<double>(line.values.size()));
    for (const double value : line.values) largest = std::max(largest, value);
  }
  frame.top = largest > 0 ? std::ceil(largest * 10) / 10 : 1;
  std::string svg =
      begin(margin_left + frame.width + margin_right, margin_top + frame.height + margin_bottom, chart.title);
  svg += axes(frame, chart);
  double x = margin_left;
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const std::string_view colour = colours[i % std::size(colours)];
    svg += polyline(frame, chart.lines[i].values, colour);
    svg += fmt::format("<rect x=\"{:.1f}\" y=\"40\" width=\"14\" height=\"4\" fill=\"{}\"/>\n", x, colour);
    svg += text(x + 20, 46, "start", chart.lines[i].name);
    x += 46 + 6.6 * static_cast<double>(chart.lines[i].name.size());
  }
  return svg + "</svg>\n";
}

std::string figure_svg(const RegionMap& map) {
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
                       y(map.points(i, 1)), map.classes[static_cast<std::size_t>(i)] > 0 ? colours[0] : colours[1]);
  svg += fmt::format("<circle cx=\"{0:.0f}\" cy=\"42\" r=\"4\" fill=\"{1}\"/>", margin_left + 6, colours[0]);
  svg += text(margin_left + 16, 46, "start", "class +1");
  svg += fmt::format("<circle cx=\"{0:.0f}\" cy=\"42\" r=\"4\" fill=\"{1}\"/>", margin_left + 96, colours[1]);
  svg += text(margin_left + 106, 46, "start", "class -1");
  return svg + "</svg>\n";
}

}  // namespace ecotone
