#include "ecotone/report/html/charts/strip_chart.h"

#include <algorithm>

#include "ecotone/report/html/charts/axis.h"
#include "ecotone/report/html/charts/svg.h"

namespace ecotone::report {

namespace {

constexpr double strip_side = 14, strip_row = 66, strip_foot = 44;
constexpr double name_line = 16, dot_line = 36, label_line = 56;  // within a row

/// Draws one chart.
class Strips {
 public:
  Strips(const StripChart& chart, double width)
      : chart_(chart),
        width_(width),
        height_(strip_row * static_cast<double>(chart.rows.size()) + strip_foot),
        svg_(width, height_, chart.description) {
    for (const StripRow& row : chart.rows) {
      for (const StripDot& dot : row.dots) axis_.cover(dot.value);
      axis_.cover(row.mean);
      if (row.band && row.band_look != "spread") {
        axis_.cover(row.band->first);
        axis_.cover(row.band->second);
      }
    }
    axis_.cover(chart.line);
    axis_.close();
  }

  std::string drawn() && {
    draw_axis();
    for (std::size_t r = 0; r < chart_.rows.size(); ++r) draw_row(chart_.rows[r], strip_row * static_cast<double>(r));
    return std::move(svg_).done();
  }

 private:
  const StripChart& chart_;
  double width_, height_;
  Axis axis_;
  Svg svg_;

  double x(double value) const { return strip_side + (width_ - 2 * strip_side) * axis_.place(value) / 100; }

  void draw_axis() {
    const double base = height_ - strip_foot + 6;
    double last = -1e9;
    for (const Axis::Tick& tick : axis_.ticks()) {
      svg_.line(x(tick.value), 4, x(tick.value), base, "rule");
      // Not every number has room on a phone.
      if (x(tick.value) - last < drawn_width(tick.label) + 6) continue;
      svg_.text(std::clamp(x(tick.value), drawn_width(tick.label) / 2, width_ - drawn_width(tick.label) / 2), base + 14,
                "middle", tick.label);
      last = x(tick.value);
    }
    if (chart_.line) svg_.line(x(*chart_.line), 4, x(*chart_.line), base, "compare");
    svg_.text(width_ / 2, base + 31, "middle", chart_.axis_title);
  }

  void draw_row(const StripRow& row, double top) {
    const double figure = drawn_width(row.figure) + 14;
    svg_.text(0, top + name_line, "start", row.tag, "tag-text");
    const double indent = row.tag.empty() ? 0 : drawn_width(row.tag) + 12;
    svg_.text(indent, top + name_line, "start", fitted(row.name, width_ - figure - indent), "row-name");
    svg_.text(width_, top + name_line, "end", row.figure, row.figure_look);
    const double y = top + dot_line;
    svg_.line(strip_side, y, width_ - strip_side, y, "base");
    if (row.band) {
      const double half = row.band_look == "spread" ? 7 : 2.5;
      svg_.rect(x(row.band->first), y - half, x(row.band->second) - x(row.band->first), 2 * half, row.band_look);
    }
    for (const StripDot& dot : row.dots) svg_.circle(x(dot.value), y, 5.2, dot.look, dot.note);
    if (row.mean) svg_.rect(x(*row.mean) - 1.5, y - 12, 3, 24, "mean");
    draw_names(row, top + label_line);
  }

  /// Names below their dots, as many as have room; the foremost first.
  void draw_names(const StripRow& row, double y) {
    std::vector<const StripDot*> order;
    for (const StripDot& dot : row.dots)
      if (!dot.name.empty()) order.push_back(&dot);
    std::ranges::stable_sort(order, [](const StripDot* a, const StripDot* b) { return a->foremost > b->foremost; });
    std::vector<std::pair<double, double>> taken;
    for (const StripDot* dot : order) {
      const std::string name = fitted(dot->name, std::min(200.0, width_ / 2));
      const double half = drawn_width(name) / 2;
      const double middle = std::clamp(x(dot->value), half, width_ - half);
      const std::pair own{middle - half - 3, middle + half + 3};
      const bool free = std::ranges::none_of(
          taken, [&](const auto& other) { return own.first < other.second && other.first < own.second; });
      if (!free) continue;
      taken.push_back(own);
      svg_.text(middle, y, "middle", name, dot->foremost ? "dot-name foremost" : "dot-name");
    }
  }
};

}  // namespace

std::string strip_chart(const StripChart& chart, double width) { return Strips(chart, width).drawn(); }

}  // namespace ecotone::report
