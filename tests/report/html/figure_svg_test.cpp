#include "ecotone/report/html/figure_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace ecotone {
namespace figure_svg_test {

using ::testing::HasSubstr;

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
