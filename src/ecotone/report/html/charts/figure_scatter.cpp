#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "ecotone/data/dataset.h"
#include "ecotone/report/html/charts/figure_frame.h"
#include "ecotone/report/html/charts/figure_svg.h"

namespace ecotone {

namespace figure_parts {
namespace {

constexpr Index most_drawn = 1500;  ///< points of a group
constexpr std::string_view segment_colour = "#222";
constexpr std::string_view segment_dashes[] = {"", "8 4", "2 3", "9 3 2 3"};

struct ScatterFrame {
  Plot plot{.width = 500, .height = 400};
  RoundAxis across = RoundAxis::between(0, 1), upward = RoundAxis::between(0, 1);

  double x(double value) const { return plot.x(across.share(value)); }
  double y(double value) const { return plot.y(upward.share(value)); }
};

bool is_point(const ScatterChart::Group& group, Index i) {
  return std::isfinite(group.points(i, 0)) && std::isfinite(group.points(i, 1));
}

/// Around the points, or around the lines if there are none.
ScatterFrame scatter_frame(const ScatterChart& chart) {
  Range across, upward;
  const auto cover = [&](double x, double y) {
    across.cover(x);
    upward.cover(y);
  };
  for (const ScatterChart::Group& group : chart.groups)
    for (Index i = 0; i < group.points.rows(); ++i)
      if (is_point(group, i)) cover(group.points(i, 0), group.points(i, 1));
  if (across.empty) {
    for (const ScatterChart::Segment& segment : chart.segments) {
      cover(segment.x1, segment.y1);
      cover(segment.x2, segment.y2);
    }
  }
  ScatterFrame frame;
  frame.across = across.padded(0.04);
  frame.upward = upward.padded(0.04);
  frame.plot.left = left_of(frame.upward);
  return frame;
}

/// Positions of the points that are drawn, at equal distances.
std::vector<Index> drawn_points(const ScatterChart::Group& group) {
  std::vector<Index> all;
  for (Index i = 0; i < group.points.rows(); ++i)
    if (is_point(group, i)) all.push_back(i);
  return spread_over(all, most_drawn);
}

/// "1,500 of 4,000 points of 'a' are drawn"; empty if all are.
std::string thinned_note(const ScatterChart& chart) {
  std::string note;
  for (const ScatterChart::Group& group : chart.groups) {
    if (group.points.rows() <= most_drawn) continue;
    const std::string part =
        fmt::format("{} of {} points of {} are drawn", drawn_points(group).size(), group.points.rows(), group.name);
    note += (note.empty() ? "" : "; ") + part;
  }
  return note;
}

/// The values of all groups that are shown by shades.
Range shade_range(const ScatterChart& chart) {
  Range range;
  for (const ScatterChart::Group& group : chart.groups)
    for (const double value : group.value) range.cover(value);
  return range;
}

/// From light orange to dark purple; grey for what is not a number.
std::string shade(double share) {
  if (!std::isfinite(share)) return "#bbbbbb";
  constexpr double stops[3][3] = {{253, 190, 90}, {205, 70, 70}, {60, 15, 90}};
  const double place = std::clamp(share, 0.0, 1.0) * 2;
  const int from = place < 1 ? 0 : 1;
  std::string code = "#";
  for (int c = 0; c < 3; ++c) {
    const double mixed = stops[from][c] + (place - from) * (stops[from + 1][c] - stops[from][c]);
    code += fmt::format("{:02x}", static_cast<int>(std::lround(mixed)));
  }
  return code;
}

double shade_share(const Range& range, double value) {
  return range.high > range.low ? (value - range.low) / (range.high - range.low) : 0.5;
}

double mark_size(const ScatterChart& chart) {
  Index points = 0;
  for (const ScatterChart::Group& group : chart.groups) points += group.points.rows();
  return points <= 200 ? 3.6 : points <= 1000 ? 2.6 : 1.9;
}

std::string scatter_points(const ScatterFrame& frame, const ScatterChart& chart, const Range& shades) {
  std::string svg;
  const double size = mark_size(chart);
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const ScatterChart::Group& group = chart.groups[g];
    for (const Index i : drawn_points(group)) {
      const double x = frame.x(group.points(i, 0)), y = frame.y(group.points(i, 1));
      const bool shaded = at(i) < group.value.size();
      svg += marker(g, x, y, size, shaded ? shade(shade_share(shades, group.value[at(i)])) : colour_of(g));
    }
  }
  return svg;
}

/// The part of a line inside the frame, by where it enters and leaves along its way; empty if it misses the frame.
std::optional<std::pair<double, double>> inside_part(const ScatterFrame& frame, const ScatterChart::Segment& segment) {
  double enter = 0, leave = 1;
  const auto cut = [&](double from, double way, const RoundAxis& axis) {
    if (way == 0) return from >= axis.low() && from <= axis.high();
    const double a = (axis.low() - from) / way, b = (axis.high() - from) / way;
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
    return true;
  };
  const bool crosses =
      cut(segment.x1, segment.x2 - segment.x1, frame.across) && cut(segment.y1, segment.y2 - segment.y1, frame.upward);
  if (!crosses || !(enter <= leave)) return std::nullopt;
  return std::pair(enter, leave);
}

std::string scatter_segments(const ScatterFrame& frame, const ScatterChart& chart) {
  std::string svg;
  for (std::size_t s = 0; s < chart.segments.size(); ++s) {
    ScatterChart::Segment segment = chart.segments[s];
    for (double* end : {&segment.x1, &segment.y1, &segment.x2, &segment.y2}) *end = bounded(*end);
    const auto part = inside_part(frame, segment);
    if (!part) continue;
    const auto x = [&](double way) { return frame.x(segment.x1 + way * (segment.x2 - segment.x1)); };
    const auto y = [&](double way) { return frame.y(segment.y1 + way * (segment.y2 - segment.y1)); };
    svg += stroke(x(part->first), y(part->first), x(part->second), y(part->second), segment_colour,
                  segment_dashes[s % std::size(segment_dashes)]);
  }
  return svg;
}

/// A bar of all shades with the smallest and the largest value at its ends.
LegendEntry shade_entry(const Range& shades) {
  constexpr int pieces = 20;
  constexpr double piece = 5;
  const std::string low = short_number(shades.low);
  const double before = text_width(low);
  const auto key = [=](double x, double y) {
    std::string svg = text(x + before, y + 4, "end", low);
    for (int i = 0; i < pieces; ++i)
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"10\" fill=\"{}\"/>\n",
                         x + before + 6 + piece * i, y - 5, piece + 0.3, shade((i + 0.5) / pieces));
    return svg;
  };
  return {short_number(shades.high), key, before + 6 + piece * pieces};
}

Legend scatter_legend(const ScatterChart& chart, const Range& shades, double right) {
  std::vector<LegendEntry> entries;
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const std::string colour(chart.groups[g].value.empty() ? colour_of(g) : "#555");
    entries.push_back({chart.groups[g].name, [=](double x, double y) { return marker(g, x + 7, y, 4, colour); }});
  }
  for (std::size_t s = 0; s < chart.segments.size(); ++s)
    entries.push_back({chart.segments[s].name,
                       [s](double x, double y) {
                         return stroke(x, y, x + 26, y, segment_colour, segment_dashes[s % std::size(segment_dashes)]);
                       },
                       26});
  if (!shades.empty) entries.push_back(shade_entry(shades));
  return legend_of(entries, right);
}

std::string scatter_axes(const ScatterFrame& frame, const ScatterChart& chart) {
  std::string svg = value_axis(frame.upward, frame.plot, chart.y_title);
  for (const double tick : frame.across.ticks()) svg += tick_below(frame.x(tick), frame.plot, frame.across.label(tick));
  svg += rule(frame.plot.left, frame.plot.top, frame.plot.left, frame.plot.base(), "#555");
  return svg + text(frame.plot.x(0.5), frame.plot.base() + 40, "middle", chart.x_title);
}

}  // namespace
}  // namespace figure_parts

std::string figure_svg(const ScatterChart& chart) {
  using namespace figure_parts;
  ScatterFrame frame = scatter_frame(chart);
  const double width = frame.plot.right() + margin_right;
  const Range shades = shade_range(chart);
  const Legend legend = scatter_legend(chart, shades, width);
  frame.plot.top += legend.below;
  std::string svg = begin(width, frame.plot.base() + margin_bottom, chart.title, thinned_note(chart));
  svg += scatter_axes(frame, chart) + scatter_points(frame, chart, shades) + scatter_segments(frame, chart);
  return svg + legend.svg + "</svg>\n";
}

}  // namespace ecotone
