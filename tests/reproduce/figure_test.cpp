#include "ecotone/reproduce/figure.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ecotone::test {
namespace figure_test {

TEST(Figure, WritesItsNumbers) {
  const LineChart chart{
      .name = "n", .title = "t", .x_title = "x", .y_title = "y", .lines = {{"a", {0.5, 0.25}}, {"b, c", {1}}}};
  EXPECT_EQ(figure_csv(chart), "step,\"a\",\"b, c\"\n1,0.5,1\n2,0.25,\n");
  RegionMap map{.name = "m",
                .title = "t",
                .left = 0,
                .right = 4,
                .bottom = 0,
                .top = 2,
                .score = Matrix(1, 2),
                .points = Matrix(1, 2),
                .classes = {-1}};
  map.score << -1, 2;
  map.points << 3, 0.5;
  EXPECT_EQ(figure_csv(map), "kind,x,y,class\ngrid,1,1,-1\ngrid,3,1,1\npoint,3,0.5,-1\n");
}

TEST(Figure, WritesPositionsWhereThereAreSome) {
  LineChart chart{
      .name = "n", .title = "t", .x_title = "epoch", .y_title = "y", .lines = {{"a \"b\"", {1, std::nan("")}}}};
  chart.x = {0, 2.5};
  EXPECT_EQ(figure_csv(chart), "epoch,\"a \"\"b\"\"\"\n0,1\n2.5,\n");
}

TEST(Figure, WritesPointsAndTheEndsOfLines) {
  ScatterChart chart{.name = "s", .title = "t", .x_title = "x", .y_title = "y", .groups = {}};
  chart.groups = {{"a, b", Matrix{{1, 2}, {3, 4}}, {0.5, 0.25}}, {"c", Matrix{{5, 6}}}};
  chart.segments = {{"line", 0, 1, 2, 3}};
  EXPECT_EQ(figure_csv(chart), "group,x,y,value\n\"a, b\",1,2,0.5\n\"a, b\",3,4,0.25\nc,5,6,\nline,0,1,\nline,2,3,\n");
}

TEST(Figure, WritesCategories) {
  const DotChart chart{.name = "d",
                       .title = "t",
                       .y_title = "y",
                       .categories = {"a", "b"},
                       .series = {{"one", {1, 2}, {0.5, 0.25}}, {"two", {3, std::nan("")}}}};
  EXPECT_EQ(figure_csv(chart), "category,series,value,spread\na,one,1,0.5\na,two,3,\nb,one,2,0.25\nb,two,,\n");
}

}  // namespace figure_test
}  // namespace ecotone::test
