#include "ecotone/reproduce/figure.h"

#include <fmt/format.h>

#include <algorithm>

namespace ecotone {

std::string figure_csv(const LineChart& chart) {
  std::string text = "step";
  std::size_t steps = 0;
  for (const LineChart::Line& line : chart.lines) {
    text += fmt::format(",\"{}\"", line.name);
    steps = std::max(steps, line.values.size());
  }
  text += "\n";
  for (std::size_t i = 0; i < steps; ++i) {
    text += fmt::format("{}", i + 1);
    for (const LineChart::Line& line : chart.lines)
      text += i < line.values.size() ? fmt::format(",{}", line.values[i]) : ",";
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

}  // namespace ecotone
