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
    lines.push_back({{"name", line.name}, {"values", json_numbers(line.values)}, {"dashed", line.dashed}});
  return {{"name", chart.name},
          {"title", chart.title},
          {"x_title", chart.x_title},
          {"y_title", chart.y_title},
          {"lines", std::move(lines)},
          {"x", chart.x},
          {"logarithmic", chart.logarithmic},
          {"bottom", chart.bottom},
          {"level", json_number(chart.level)}};
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

/// The numbers of one column of the points.
Json coordinates_json(const Matrix& points, Index column) {
  std::vector<double> values;
  for (Index i = 0; i < points.rows(); ++i) values.push_back(points(i, column));
  return json_numbers(values);
}

Json scatter_json(const ScatterChart& chart) {
  Json groups = Json::array(), segments = Json::array();
  for (const ScatterChart::Group& group : chart.groups)
    groups.push_back({{"name", group.name},
                      {"x", coordinates_json(group.points, 0)},
                      {"y", coordinates_json(group.points, 1)},
                      {"value", json_numbers(group.value)}});
  for (const ScatterChart::Segment& segment : chart.segments)
    segments.push_back(
        {{"name", segment.name}, {"x1", segment.x1}, {"y1", segment.y1}, {"x2", segment.x2}, {"y2", segment.y2}});
  return {{"name", chart.name},       {"title", chart.title},        {"x_title", chart.x_title},
          {"y_title", chart.y_title}, {"groups", std::move(groups)}, {"segments", std::move(segments)}};
}

Json dots_json(const DotChart& chart) {
  Json series = Json::array();
  for (const DotChart::Series& one : chart.series)
    series.push_back({{"name", one.name}, {"values", json_numbers(one.values)}, {"spread", json_numbers(one.spread)}});
  return {{"name", chart.name},
          {"title", chart.title},
          {"y_title", chart.y_title},
          {"categories", chart.categories},
          {"series", std::move(series)}};
}

/// Refuses positions that do not rise, or that a logarithmic axis does not have.
void check_positions(const LineChart& chart, const ResultField& field) {
  for (std::size_t i = 1; i < chart.x.size(); ++i)
    if (!(chart.x[i] > chart.x[i - 1])) field.at("x").fail("must rise");
  if (chart.logarithmic && !chart.x.empty() && !(chart.x.front() > 0))
    field.at("x").fail("must be above 0 on a logarithmic axis");
  for (const LineChart::Line& line : chart.lines)
    if (!chart.x.empty() && line.values.size() > chart.x.size()) field.at("lines").fail("must not be longer than x");
}

/// Fields after `lines` are of later versions.
LineChart chart_from(const ResultField& field) {
  LineChart chart{
      field.at("name").text(), field.at("title").text(), field.at("x_title").text(), field.at("y_title").text(), {}};
  chart.lines = field.at("lines").each([](const ResultField& each) {
    const auto dashed = each.find("dashed");
    return LineChart::Line{each.at("name").text(), each.at("values").numbers_or_nan(), dashed && dashed->flag()};
  });
  if (const auto x = field.find("x")) chart.x = x->numbers();
  if (const auto logarithmic = field.find("logarithmic")) chart.logarithmic = logarithmic->flag();
  if (const auto bottom = field.find("bottom")) chart.bottom = bottom->number();
  if (const auto level = field.find("level")) chart.level = level->optional_number();
  check_positions(chart, field);
  return chart;
}

ScatterChart scatter_from(const ResultField& field) {
  ScatterChart chart;
  chart.name = field.at("name").text();
  chart.title = field.at("title").text();
  chart.x_title = field.at("x_title").text();
  chart.y_title = field.at("y_title").text();
  chart.groups = field.at("groups").each([](const ResultField& each) {
    ScatterChart::Group group{each.at("name").text(), {}, each.at("value").numbers_or_nan()};
    const std::vector<double> x = each.at("x").numbers_or_nan();
    const std::vector<double> y = each.at("y").sized(x.size()).numbers_or_nan();
    if (!group.value.empty()) (void)each.at("value").sized(x.size());
    group.points.resize(std::ssize(x), 2);
    for (std::size_t i = 0; i < x.size(); ++i) {
      group.points(static_cast<Index>(i), 0) = x[i];
      group.points(static_cast<Index>(i), 1) = y[i];
    }
    return group;
  });
  chart.segments = field.at("segments").each([](const ResultField& each) {
    return ScatterChart::Segment{each.at("name").text(), each.at("x1").number(), each.at("y1").number(),
                                 each.at("x2").number(), each.at("y2").number()};
  });
  return chart;
}

DotChart dots_from(const ResultField& field) {
  DotChart chart;
  chart.name = field.at("name").text();
  chart.title = field.at("title").text();
  chart.y_title = field.at("y_title").text();
  chart.categories = field.at("categories").texts();
  const std::size_t count = chart.categories.size();
  chart.series = field.at("series").each([&](const ResultField& each) {
    DotChart::Series series{each.at("name").text(), each.at("values").sized(count).numbers_or_nan(),
                            each.at("spread").numbers_or_nan()};
    if (!series.spread.empty()) (void)each.at("spread").sized(count);
    return series;
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
  Json charts = Json::array(), maps = Json::array(), scatters = Json::array(), dots = Json::array();
  for (const LineChart& chart : figures.charts) charts.push_back(chart_json(chart));
  for (const RegionMap& map : figures.maps) maps.push_back(region_json(map));
  for (const ScatterChart& chart : figures.scatters) scatters.push_back(scatter_json(chart));
  for (const DotChart& chart : figures.dots) dots.push_back(dots_json(chart));
  return {{"charts", std::move(charts)},
          {"maps", std::move(maps)},
          {"scatters", std::move(scatters)},
          {"dots", std::move(dots)}};
}

Figures figures_from_json(const Json& json, const std::string& origin) {
  const ResultField field(json, origin);
  Figures figures{field.at("charts").each(chart_from), field.at("maps").each(region_from)};
  // Documents of earlier versions do not have these.
  if (const auto scatters = field.find("scatters")) figures.scatters = scatters->each(scatter_from);
  if (const auto dots = field.find("dots")) figures.dots = dots->each(dots_from);
  return figures;
}

}  // namespace ecotone
