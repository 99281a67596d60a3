#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/html/charts/figure_frame.h"
#include "ecotone/report/html/charts/figure_svg.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/page.h"

namespace ecotone {

namespace figure_parts {
namespace {

constexpr double label_width = 220;  ///< of a category, at most
/// Sine and cosine of the angle of slanted labels, 37 degrees.
constexpr double label_fall = 0.6, label_reach = 0.8;

struct DotFrame {
  Plot plot;
  double below = 30, beside = margin_right;  ///< room for the labels
  bool slanted = false;
  std::size_t every = 1;  ///< which categories have a label
  RoundAxis values = RoundAxis::between(0, 1);
  double slot = 0;  ///< width of a category

  double y(double value) const { return plot.y(values.share(value)); }
};

/// The value of a series in a category, or its spread; NaN if there is none.
double entry_of(const std::vector<double>& values, std::size_t category) {
  return category < values.size() ? values[category] : std::nan("");
}

DotFrame dot_frame(const DotChart& chart) {
  DotFrame frame;
  Range range;
  for (const DotChart::Series& series : chart.series) {
    for (std::size_t c = 0; c < chart.categories.size(); ++c) {
      const double value = entry_of(series.values, c), spread = entry_of(series.spread, c);
      if (!std::isfinite(value)) continue;
      range.cover(value);
      range.cover(value - spread);
      range.cover(value + spread);
    }
  }
  frame.values = range.padded(0.05);
  frame.plot.left = left_of(frame.values);
  const double count = static_cast<double>(std::max<std::size_t>(1, chart.categories.size()));
  // Marks of one category stand side by side with some room between categories.
  frame.plot.width =
      std::clamp(count * (10.0 * static_cast<double>(chart.series.size()) + 14), frame.plot.width, 1400.0);
  frame.slot = frame.plot.width / count;
  double longest = 0;
  for (const std::string& name : chart.categories) longest = std::max(longest, std::min(text_width(name), label_width));
  frame.slanted = longest > frame.slot - 6;
  if (frame.slanted) {
    frame.below = 26 + label_fall * longest;
    for (std::size_t c = 0; c < chart.categories.size(); ++c) {
      const double behind =
          (count - 0.5 - static_cast<double>(c)) * frame.slot;  // from the tick to the end of the axis
      const double reach = label_reach * std::min(text_width(chart.categories[c]), label_width);
      frame.beside = std::max(frame.beside, reach - behind + 8);
    }
  }
  const double least = 15;  // between two slanted labels
  frame.every = static_cast<std::size_t>(std::max(1.0, std::ceil(least / frame.slot)));
  return frame;
}

std::string dot_axes(const DotFrame& frame, const DotChart& chart) {
  const Plot& plot = frame.plot;
  std::string svg = value_axis(frame.values, plot, chart.y_title);
  for (std::size_t c = 0; c < chart.categories.size(); ++c) {
    const double left = plot.left + static_cast<double>(c) * frame.slot, middle = left + frame.slot / 2;
    if (c > 0) svg += rule(left, plot.top, left, plot.base(), "#f0f0f0");
    if (c % frame.every != 0) continue;
    const std::string name = report::fitted(chart.categories[c], label_width);
    if (!frame.slanted) {
      svg += tick_below(middle, plot, name);
      continue;
    }
    svg += rule(middle, plot.base(), middle, plot.base() + 5, "#555");
    svg += fmt::format("<text x=\"{0:.1f}\" y=\"{1:.1f}\" transform=\"rotate(37 {0:.1f} {1:.1f})\">{2}</text>\n",
                       middle - 4, plot.base() + 17, report::escape(name));
  }
  return svg + rule(plot.left, plot.top, plot.left, plot.base(), "#555");
}

std::string error_bar(const DotFrame& frame, double x, double low, double high, std::string_view colour) {
  constexpr double cap = 3;
  return rule(x, frame.y(low), x, frame.y(high), colour) + rule(x - cap, frame.y(low), x + cap, frame.y(low), colour) +
         rule(x - cap, frame.y(high), x + cap, frame.y(high), colour);
}

std::string dot_marks(const DotFrame& frame, const DotChart& chart) {
  std::string svg;
  const auto count = static_cast<double>(chart.series.size());
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const DotChart::Series& series = chart.series[s];
    for (std::size_t c = 0; c < chart.categories.size(); ++c) {
      const double value = entry_of(series.values, c), spread = entry_of(series.spread, c);
      if (!std::isfinite(value)) continue;
      const double beside = (static_cast<double>(s) + 0.5) / count;
      const double x = frame.plot.left + (static_cast<double>(c) + 0.12 + 0.76 * beside) * frame.slot;
      if (std::isfinite(spread) && spread > 0) svg += error_bar(frame, x, value - spread, value + spread, colour_of(s));
      svg += marker(s, x, frame.y(value), 4, colour_of(s));
    }
  }
  return svg;
}

}  // namespace
}  // namespace figure_parts

std::string figure_svg(const DotChart& chart) {
  using namespace figure_parts;
  DotFrame frame = dot_frame(chart);
  const double width = frame.plot.right() + frame.beside;
  std::vector<LegendEntry> entries;
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    entries.push_back({chart.series[s].name, [s](double x, double y) { return marker(s, x + 7, y, 4, colour_of(s)); }});
  const Legend legend = legend_of(entries, width);
  frame.plot.top += legend.below;
  std::string svg = begin(width, frame.plot.base() + frame.below, chart.title);
  return svg + dot_axes(frame, chart) + dot_marks(frame, chart) + legend.svg + "</svg>\n";
}

}  // namespace ecotone
