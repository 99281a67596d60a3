#include "ecotone/methods/learn/constant/constant.h"

#include "methods/support.h"

namespace ecotone::test {
namespace constant_test {

Prediction predicted(const Model& model, Index rows) {
  return model.predict({Features::dense(Matrix::Zero(rows, 1)), std::nullopt}, context());
}

TrainView four_rows(Labels y) { return view_of(Features::dense(Matrix::Zero(4, 1)), std::move(y)); }

TEST(Constant, PredictsTheMajorityWithTheFrequencies) {
  const Prediction p = predicted(fitted("constant", four_rows(class_labels({"no", "yes"}, {1, 1, 0, 1}))), 3);
  EXPECT_EQ(p.index, (std::vector<std::int32_t>{1, 1, 1}));
  EXPECT_EQ(p.probability(2, 0), 0.25);
  EXPECT_EQ(p.probability(2, 1), 0.75);
}

TEST(Constant, TiesGoToTheSmallerClass) {
  EXPECT_EQ(predicted(fitted("constant", four_rows(class_labels({"a", "b", "c"}, {2, 1, 2, 1}))), 1).index[0], 1);
}

TEST(Constant, WeightsCount) {
  TrainView view = four_rows(class_labels({"no", "yes"}, {1, 1, 0, 1}));
  view.weight = Vector(4);
  view.weight << 1, 1, 6, 0;
  const Prediction p = predicted(fitted("constant", view), 1);
  EXPECT_EQ(p.index[0], 0);
  EXPECT_EQ(p.probability(0, 0), 0.75);
  view.weight.setZero();
  EXPECT_EQ(code_of([&] { fitted("constant", view); }), "zero_weights");
  view.weight[0] = -1;
  EXPECT_EQ(code_of([&] { fitted("constant", view); }), "negative_weight");
}

TEST(Constant, PredictsTheWeightedMeanOfNumbers) {
  TrainView view = four_rows(number_labels({1, 2, 3, 10}));
  EXPECT_EQ(predicted(fitted("constant", view), 2).value[1], 4.0);
  view.weight = Vector(4);
  view.weight << 0, 1, 1, 0;
  const Model model = fitted("constant", view);
  EXPECT_EQ(predicted(model, 2).value[0], 2.5);
  EXPECT_EQ(predicted(reloaded(model), 2).value[0], 2.5);
  EXPECT_EQ(model.inspect()["stages"][0]["value"], 2.5);
  EXPECT_EQ(model.inspect()["task"], "regress");
}

}  // namespace constant_test
}  // namespace ecotone::test
