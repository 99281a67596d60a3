#include "ecotone/report/html/charts/grid_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/html/charts/svg.h"

namespace ecotone::report {

namespace {

constexpr double cell_width = 54, cell_height = 24;
constexpr int shades = 6;

/// The class of a cell: the sign and one of six strengths.
std::string shade_of(const std::optional<double>& value, double full) {
  if (!value) return "cell none";
  const double strength = full > 0 ? std::min(1.0, std::abs(*value) / full) : 0;
  const int step = static_cast<int>(std::lround(strength * shades));
  if (step == 0) return "cell";
  return fmt::format("cell {}{}", *value > 0 ? "up" : "down", step);
}

}  // namespace

std::string grid_chart(const GridChart& chart) {
  double left = 60, top = 40;
  for (const std::string& name : chart.rows) left = std::max(left, std::min(220.0, drawn_width(name) + 12));
  for (const std::string& name : chart.columns) top = std::max(top, std::min(150.0, drawn_width(name) + 14));
  const double width = left + cell_width * static_cast<double>(chart.columns.size()) + 4;
  Svg svg(width, top + cell_height * static_cast<double>(chart.rows.size()) + 4, chart.description);
  for (std::size_t c = 0; c < chart.columns.size(); ++c)
    svg.upward_text(left + cell_width * (static_cast<double>(c) + 0.5) + 4, top - 8, "start",
                    fitted(chart.columns[c], 140));
  for (std::size_t r = 0; r < chart.rows.size(); ++r) {
    const double y = top + cell_height * static_cast<double>(r);
    svg.text(left - 8, y + 16, "end", fitted(chart.rows[r], left - 10));
    for (std::size_t c = 0; c < chart.columns.size(); ++c) {
      const double x = left + cell_width * static_cast<double>(c);
      svg.rect(x + 1, y + 1, cell_width - 2, cell_height - 2, shade_of(chart.values[r][c], chart.full),
               fmt::format("{}, {}: {}", chart.rows[r], chart.columns[c], chart.texts[r][c]));
      svg.text(x + cell_width / 2, y + 16, "middle", chart.texts[r][c], "cell-text");
    }
  }
  return std::move(svg).done();
}

}  // namespace ecotone::report
