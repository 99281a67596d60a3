// Labels, weights and options at the ends of what trees and forests take.
#include <gtest/gtest.h>

#include "methods/learn/trees/product_rows.h"

namespace ecotone::test {
namespace trees_limits_test {

std::vector<std::string> warned(const std::string& pipeline, const TrainView& view) {
  Recorder recorder;
  fitted(pipeline, view, context().observed_by(&recorder));
  std::vector<std::string> codes;
  for (const auto& [code, message] : recorder.warnings) codes.push_back(code);
  return codes;
}

/// Sums of gradients are squared, so they must not exceed the root of what a double holds.
TEST(TreesLimits, SumsThatOverflowAreRefused) {
  TrainView numbers = number_view(120, 3), classes = product_view(120, 3);
  const auto code = [](const char* pipeline, const TrainView& view) {
    return code_of([&] { fitted(pipeline, view); });
  };
  for (const char* gamma : {"1e154", "1e7", "1e-7", "0"})
    EXPECT_EQ(code_of([&] { fitted(std::string("trees rounds=2 leaves=3 gamma=") + gamma, numbers); }), "bad_option");
  numbers.y.value *= 1e100;
  for (const char* fine : {"trees rounds=2 leaves=3", "trees rounds=2 leaves=3 gamma=1e6", "forest trees=2"})
    EXPECT_EQ(warned(fine, numbers), (std::vector<std::string>{})) << fine;
  numbers.weight = Vector::Constant(120, 1e100);
  for (const char* pipeline : {"trees rounds=2 leaves=3", "trees rounds=2 leaves=3 gamma=2", "forest trees=2"})
    EXPECT_EQ(code(pipeline, numbers), "too_large") << pipeline;
  EXPECT_EQ(message_of([&] { fitted("trees", numbers); }),
            "trees: the labels times the weights are too large to be summed; divide labels or weights");
  EXPECT_EQ(code("trees rounds=2 leaves=3 loss=absolute", numbers), "none");
  numbers.weight.setConstant(1e46);
  EXPECT_EQ(code("trees rounds=2 leaves=3", numbers), "none");
  EXPECT_EQ(code("trees rounds=2 leaves=3 gamma=1e6", numbers), "too_large");
  classes.weight = Vector::Constant(120, 1e149);
  EXPECT_EQ(code("trees rounds=2 leaves=3", classes), "too_large");
  EXPECT_EQ(code("forest trees=2", classes), "too_large");
}

/// What splits gain are squares; their spread over domains is a root of squares of those.
TEST(TreesLimits, SteadySplitsDoNotDependOnTheUnitOfTheLabels) {
  TrainView view = number_view(300, 3);
  view.y.value += 3 * view.x.to_matrix().col(0);
  const char* pipeline = "trees rounds=3 leaves=4 splits=steady lam=0";
  const Vector usual = fitted(pipeline, view).predict({view.x, {}}, context()).value;
  ASSERT_GT((usual.array() - usual.mean()).abs().maxCoeff(), 0.1);
  const double unit = std::ldexp(1.0, 330);
  view.y.value *= unit;
  EXPECT_EQ(Vector(fitted(pipeline, view).predict({view.x, {}}, context()).value / unit), usual);
}

/// Derivatives are integers of 30 bits, whose unit one huge label decides.
TEST(TreesLimits, LabelsThatRoundAwayAreSaid) {
  TrainView view = number_view(300, 3);
  const std::vector<std::string> none, span{"labels_span"};
  for (const double largest : {3.0, 1e5, 1e12}) {
    view.y.value[7] = largest;
    for (const char* pipeline : {"trees rounds=2 leaves=3", "forest trees=2"})
      EXPECT_EQ(warned(pipeline, view), largest > 1e9 ? span : none) << pipeline << " " << largest;
  }
  EXPECT_EQ(warned("trees rounds=2 leaves=3 loss=absolute", view), none);
  view.weight = Vector::Ones(300);
  view.weight[7] = 0;
  EXPECT_EQ(warned("trees rounds=2 leaves=3", view), none);
}

TEST(TreesLimits, NamesOfMonotoneColumnsMayHaveSpacesAndAreGuessed) {
  TrainView view = number_view(200, 2);
  view.y.value += 3 * view.x.to_matrix().col(0);
  const std::string pipeline = "trees rounds=3 leaves=4 monotone=";
  const auto value = [&](const std::string& text) {
    return fitted(pipeline + text, view).predict({view.x, {}}, context()).value;
  };
  EXPECT_EQ(value("'x1: +1'"), value("x1:+1"));
  EXPECT_EQ(value("' x1 :+1'"), value("x1:+1"));
  EXPECT_NE(value("x1:-1"), value("x1:+1"));
  view.x = Features::dense(view.x.to_matrix(), {"age", "size", "dose", "weight"});
  EXPECT_EQ(message_of([&] { fitted(pipeline + "agee:+1", view); }),
            "trees: monotone names a column 'agee', which it is not given; did you mean 'age'?");
}

}  // namespace trees_limits_test
}  // namespace ecotone::test
