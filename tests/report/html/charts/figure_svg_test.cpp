#include "ecotone/report/html/charts/figure_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "report/html/balance.h"

namespace ecotone {
namespace figure_svg_test {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(FigureSvg, AChartHasALineAndALegendEach) {
  const LineChart chart{.name = "n",
                        .title = "Losses <now>",
                        .x_title = "round",
                        .y_title = "share",
                        .lines = {{"one", {0.5, 0.2, 0, 0, 0}}, {"two & more", {0.3, 0.3, 0.3, 0.1, 0}}}};
  const std::string svg = figure_svg(chart);
  EXPECT_EQ(count_of(svg, "<polyline"), 2U);
  EXPECT_THAT(svg, HasSubstr("Losses &lt;now&gt;"));
  EXPECT_THAT(svg, HasSubstr("two &amp; more"));
  EXPECT_THAT(svg, HasSubstr(">round (log scale)</text>"));
  // The first step is at the left end of the axis, 0 on its bottom line.
  EXPECT_THAT(svg, HasSubstr("points=\"62.0,64.0 "));
  EXPECT_THAT(svg, HasSubstr("622.0,364.0 \""));
  EXPECT_EQ(svg, figure_svg(chart));
}

/// The numbers that a pattern with one group finds.
std::vector<double> numbers_in(const std::string& text, const std::string& pattern) {
  std::vector<double> numbers;
  const std::regex regex(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i)
    numbers.push_back(std::stod((*i)[1]));
  return numbers;
}

/// The texts of labels left of the frame: those of the vertical axis, from below.
std::vector<std::string> labels_beside(const std::string& svg) {
  std::vector<std::string> labels;
  const std::regex regex("<text x=\"54.0\"[^>]*>([^<]*)</text>");
  for (std::sregex_iterator i(svg.begin(), svg.end(), regex), end; i != end; ++i) labels.push_back((*i)[1]);
  return labels;
}

LineChart small_chart(std::vector<double> values) {
  return {.name = "n", .title = "t", .x_title = "x", .y_title = "y", .lines = {{"line", std::move(values)}}};
}

TEST(FigureSvg, ValuesHaveRoundTicksAndNoLineIsCutOff) {
  EXPECT_THAT(labels_beside(figure_svg(small_chart({0.53, 0.1}))),
              ElementsAre("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6"));
  EXPECT_THAT(labels_beside(figure_svg(small_chart({730, 20}))), ElementsAre("0", "200", "400", "600", "800"));
  LineChart chart = small_chart({-0.5, -11.3, 2});
  chart.bottom = -12;
  chart.level = 3.5;
  // The level is inside, and all ticks are multiples of one step.
  EXPECT_THAT(labels_beside(figure_svg(chart)), ElementsAre("−10", "−5", "0", "5"));
  // A value below the bottom lies on it.
  chart.bottom = -5;
  const std::vector<double> heights = numbers_in(figure_svg(chart), "[0-9.]+,([0-9.]+) ");
  ASSERT_EQ(heights.size(), 3U);
  EXPECT_EQ(heights[1], 364);
  EXPECT_THAT(heights, Each(::testing::AllOf(::testing::Ge(64), ::testing::Le(364))));
}

TEST(FigureSvg, ALineChartMayHavePositionsDashesAndALevel) {
  LineChart chart = small_chart({0.5, 1, 0.75});
  chart.lines.push_back({"other", {0.25, 0.25}, true});
  chart.x = {0, 10, 40};
  chart.logarithmic = false;
  chart.level = 0.5;
  const std::string svg = figure_svg(chart);
  EXPECT_THAT(svg, HasSubstr(">x</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("log scale")));
  // A quarter of the way at 10 of 40.
  EXPECT_THAT(svg, HasSubstr("points=\"62.0,214.0 202.0,64.0 622.0,139.0 \""));
  EXPECT_EQ(count_of(svg, "<polyline"), 2U);
  EXPECT_EQ(count_of(svg, "stroke-dasharray=\"7 4\""), 2U);  // the line and its key
  EXPECT_EQ(count_of(svg, "stroke-dasharray=\"2 3\""), 1U);
  // On a logarithmic axis 10 lies halfway from 1 to 100.
  chart.x = {1, 10, 100};
  chart.logarithmic = true;
  EXPECT_THAT(figure_svg(chart), HasSubstr("points=\"62.0,214.0 342.0,64.0 622.0,139.0 \""));
  // A value that is not a number is a gap.
  chart.lines = {{"line", {0.5, std::nan(""), 0.75}}};
  EXPECT_EQ(count_of(figure_svg(chart), "<polyline"), 2U);
  // Many names take several lines.
  const auto height = [](const std::string& text) { return numbers_in(text, "<svg [^>]* height=\"([0-9]+)\"").at(0); };
  const double before = height(figure_svg(chart));
  for (int i = 0; i < 20; ++i) chart.lines.push_back({"a name of some length", {0.1, 0.2, 0.3}});
  EXPECT_GT(height(figure_svg(chart)), before + 50);
  // Beyond eight lines the colours begin again, with short dashes.
  EXPECT_EQ(count_of(figure_svg(chart), "stroke-dasharray=\"3 3\""), 2 * (chart.lines.size() - 8));
  EXPECT_EQ(test::balance_error(figure_svg(chart)), "");
}

ScatterChart small_scatter(Index rows) {
  ScatterChart chart{.name = "s", .title = "t", .x_title = "across", .y_title = "up", .groups = {}};
  for (const char* name : {"one", "two", "three", "four"}) {
    ScatterChart::Group& group = chart.groups.emplace_back(ScatterChart::Group{name, Matrix(rows, 2)});
    for (Index i = 0; i < rows; ++i)
      group.points.row(i) << static_cast<double>(i), static_cast<double>(chart.groups.size());
  }
  return chart;
}

TEST(FigureSvg, GroupsOfPointsHaveShapesAndColours) {
  const std::string svg = figure_svg(small_scatter(10));
  EXPECT_EQ(count_of(svg, "<circle"), 11U);  // with the key
  EXPECT_EQ(count_of(svg, "h-"), 11U);       // triangles
  EXPECT_EQ(count_of(svg, "stroke-width=\"1.6\""), 11U);
  EXPECT_EQ(count_of(svg, "fill=\"#c2410c\""), 11U);
  for (const char* words : {">across</text>", ">up</text>", ">three</text>"}) EXPECT_THAT(svg, HasSubstr(words));
  EXPECT_EQ(test::balance_error(svg), "");
}

TEST(FigureSvg, LinesEndAtTheFrame) {
  ScatterChart chart = small_scatter(11);  // x from 0 to 10, y from 1 to 4; the frame is 4% larger
  chart.segments = {{"diagonal", -1000, -1000, 1000, 1000}, {"outside", 0, 50, 10, 60}, {"upright", 5, -9, 5, 99}};
  const std::string svg = figure_svg(chart);
  const std::string pattern = "<line x1=\"([0-9.-]+)\"[^>]*stroke=\"#222\"";
  // Two lines and three keys.
  EXPECT_EQ(numbers_in(svg, pattern).size(), 5U);
  for (const char* name : {"x1", "x2"})
    EXPECT_THAT(numbers_in(svg, std::string("<line [^>]*") + name + "=\"([0-9.-]+)\"[^>]*stroke=\"#222\""),
                Each(::testing::AllOf(::testing::Ge(62), ::testing::Le(578))));
  for (const char* name : {"y1", "y2"})
    EXPECT_THAT(numbers_in(svg, std::string("<line [^>]*") + name + "=\"([0-9.-]+)\"[^>]*stroke=\"#222\""),
                Each(::testing::AllOf(::testing::Ge(40), ::testing::Le(482))));
  // The upright line crosses the whole frame in its middle.
  EXPECT_THAT(svg, HasSubstr("x1=\"312.0\" y1=\"482.0\" x2=\"312.0\" y2=\"82.0\""));
}

TEST(FigureSvg, ManyPointsAreThinnedOut) {
  const std::string svg = figure_svg(small_scatter(4000));
  EXPECT_EQ(count_of(svg, "<circle"), 1501U);
  EXPECT_THAT(svg, HasSubstr("<title>t; 1500 of 4000 points of one are drawn; "));
  EXPECT_THAT(figure_svg(small_scatter(1500)), HasSubstr("<title>t</title>"));
  // All of them are in the data.
  EXPECT_EQ(count_of(figure_csv(small_scatter(4000)), "\n"), 16'001U);
}

TEST(FigureSvg, ShadesHaveAScale) {
  ScatterChart chart = small_scatter(3);
  chart.groups.resize(1);
  chart.groups[0].value = {-0.25, 0, 0.75};
  const std::string svg = figure_svg(chart);
  for (const char* words : {">−0.25</text>", ">0.75</text>"}) EXPECT_THAT(svg, HasSubstr(words));
  // The smallest value has the first colour and the largest the last, which differ from those of the scale's pieces.
  EXPECT_THAT(svg, HasSubstr("fill=\"#fdbe5a\""));
  EXPECT_THAT(svg, HasSubstr("fill=\"#3c0f5a\""));
  chart.groups[0].value = {1, 1, 1};
  EXPECT_EQ(test::balance_error(figure_svg(chart)), "");
}

TEST(FigureSvg, CategoriesStandSideBySideWithTheirSpread) {
  DotChart chart{.name = "d",
                 .title = "t",
                 .y_title = "score",
                 .categories = {"a", "b", "c & d"},
                 .series = {{"one", {1, 2, 3}, {0.5, 0.5, 0}}, {"two", {3, std::nan(""), 1}}}};
  const std::string svg = figure_svg(chart);
  EXPECT_EQ(count_of(svg, "<circle"), 4U);             // with the key
  EXPECT_EQ(count_of(svg, "<rect"), 4U);               // the ground, two marks and the key
  EXPECT_EQ(count_of(svg, "stroke=\"#0b5fa5\""), 6U);  // two spreads of three strokes
  EXPECT_THAT(svg, HasSubstr("c &amp; d"));
  EXPECT_THAT(svg, Not(HasSubstr("rotate(37")));
  // Long names are slanted, and the picture has room for them.
  chart.categories.assign(12, "a rather long name of a method");
  for (DotChart::Series& series : chart.series) series = {series.name, std::vector<double>(12, 1.5)};
  const std::string slanted = figure_svg(chart);
  EXPECT_EQ(count_of(slanted, "rotate(37"), 12U);
  const auto height = [](const std::string& text) { return numbers_in(text, "<svg [^>]* height=\"([0-9]+)\"").at(0); };
  EXPECT_GT(height(slanted), height(svg) + 50);
  EXPECT_EQ(test::balance_error(slanted), "");
}

TEST(FigureSvg, NoFigureNeedsAnything) {
  for (const std::string& svg :
       {figure_svg(LineChart{}), figure_svg(ScatterChart{}), figure_svg(DotChart{}), figure_svg(small_chart({1e300})),
        figure_svg(small_chart({-1e300, 4e15})), figure_svg(small_scatter(1))}) {
    EXPECT_EQ(test::balance_error(svg), "");
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(FigureSvg, ARegionIsAsLargeAsItsCells) {
  RegionMap map{.name = "m",
                .title = "t",
                .left = -1,
                .right = 1,
                .bottom = -1,
                .top = 1,
                .score = Matrix(2, 4),
                .points = Matrix(3, 2),
                .classes = {1, -1, -1}};
  map.score << 1, 1, -1, 1,  // the lowest row
      -1, -1, -1, 1;
  map.points << 0, 0, 0.5, 0.5, -0.5, 0.5;
  const std::string svg = figure_svg(map);
  EXPECT_EQ(count_of(svg, "r=\"2.2\""), 3U);
  // Three runs of cells of 120 x 240: two in the lowest row, one above.
  const std::string group = svg.substr(svg.find("<g fill"), svg.find("</g>") - svg.find("<g fill"));
  EXPECT_EQ(count_of(group, "<rect"), 3U);
  EXPECT_THAT(group, HasSubstr("x=\"62.00\" y=\"304.00\" width=\"240.00\" height=\"240.00\""));
  EXPECT_THAT(group, HasSubstr("x=\"422.00\" y=\"64.00\" width=\"120.00\""));
  EXPECT_THAT(svg, HasSubstr(">x1</text>"));
  EXPECT_THAT(svg, HasSubstr(">x2</text>"));
  EXPECT_EQ(svg.find("-0<"), std::string::npos);
}

}  // namespace figure_svg_test
}  // namespace ecotone
