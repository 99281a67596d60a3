#include <cmath>

#include "ecotone/base/json_number.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/json/read.h"
#include "ecotone/report/json/result_field.h"
#include "ecotone/reproduce/figure.h"

namespace ecotone {

namespace {

Json chart_json(const LineChart& chart) {
  Json lines = Json::array();
  for (const LineChart::Line& line : chart.lines)
    lines.push_back({{"name", line.name}, {"values", json_numbers(line.values)}});
  return {{"name", chart.name},
          {"title", chart.title},
          {"x_title", chart.x_title},
          {"y_title", chart.y_title},
          {"lines", std::move(lines)}};
}

/// Rows of the grid from below, a sign for each cell: what the score says of its class.
Json region_json(const RegionMap& map) {
  std::vector<std::string> grid;
  for (Index r = 0; r < map.score.rows(); ++r) {
    grid.emplace_back();
    for (Index c = 0; c < map.score.cols(); ++c) grid.back() += map.score(r, c) > 0 ? '+' : '-';
  }
  Json points = Json::array();
  for (Index i = 0; i < map.points.rows(); ++i)
    points.push_back({{"x", map.points(i, 0)}, {"y", map.points(i, 1)}, {"class", map.classes[at(i)]}});
  return {{"name", map.name},     {"title", map.title}, {"left", map.left}, {"right", map.right},
          {"bottom", map.bottom}, {"top", map.top},     {"grid", grid},     {"points", std::move(points)}};
}

LineChart chart_from(const ResultField& field) {
  LineChart chart{
      field.at("name").text(), field.at("title").text(), field.at("x_title").text(), field.at("y_title").text(), {}};
  chart.lines = field.at("lines").each([](const ResultField& each) {
    return LineChart::Line{each.at("name").text(), each.at("values").numbers()};
  });
  return chart;
}

Matrix grid_from(const ResultField& field) {
  const std::vector<std::string> rows = field.texts();
  if (rows.empty() || rows.front().empty()) field.fail("must not be empty");
  Matrix score(std::ssize(rows), std::ssize(rows.front()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (std::ssize(rows[r]) != score.cols()) field.fail("must have rows of the same length");
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      score(static_cast<Index>(r), static_cast<Index>(c)) = rows[r][c] == '+' ? 1 : -1;
  }
  return score;
}

RegionMap region_from(const ResultField& field) {
  RegionMap map;
  map.name = field.at("name").text();
  map.title = field.at("title").text();
  map.left = field.at("left").number();
  map.right = field.at("right").number();
  map.bottom = field.at("bottom").number();
  map.top = field.at("top").number();
  constexpr double widest = 1000;  // ticks are whole numbers
  for (const double edge : {map.left, map.right, map.bottom, map.top})
    if (std::abs(edge) > 1e6) field.fail("must lie near zero");
  if (!(map.right > map.left) || !(map.top > map.bottom) || map.right - map.left > widest ||
      map.top - map.bottom > widest)
    field.fail("must be a grid from left to right and from bottom to top");
  map.score = grid_from(field.at("grid"));
  const std::vector<ResultField> points = field.at("points").items();
  map.points.resize(std::ssize(points), 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    map.points(static_cast<Index>(i), 0) = points[i].at("x").number();
    map.points(static_cast<Index>(i), 1) = points[i].at("y").number();
    map.classes.push_back(points[i].at("class").number());
  }
  return map;
}

}  // namespace

Json to_json(const Figures& figures) {
  Json charts = Json::array(), maps = Json::array();
  for (const LineChart& chart : figures.charts) charts.push_back(chart_json(chart));
  for (const RegionMap& map : figures.maps) maps.push_back(region_json(map));
  return {{"charts", std::move(charts)}, {"maps", std::move(maps)}};
}

Figures figures_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  return {field.at("charts").each(chart_from), field.at("maps").each(region_from)};
}

}  // namespace ecotone
