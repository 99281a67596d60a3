#include <gtest/gtest.h>

#include <algorithm>

#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/multiclass/class_weights.h"
#include "methods/learn/trees/product_rows.h"

namespace ecotone::test {
namespace refit_test {

/// The view with the rows weighed as the option class_weight does.
TrainView weighted_by_class(TrainView view, const std::string& text) {
  view.weight = class_weighted_rows("test", view, text);
  return view;
}

TEST(Refit, MovesEveryClassAndKeepsRatesInBounds) {
  const TrainView three = product_view(600, 2, 3);
  TrainView few = product_view(30, 1, 3);
  for (auto& cls : few.y.index) cls = 2;
  const Model model = fitted("trees rounds=10 leaves=4", three), moved = model.refitted(few, 2, context());
  EXPECT_GT(moved.predict({three.x, {}}, context()).probability.col(2).mean(),
            model.predict({three.x, {}}, context()).probability.col(2).mean() + 0.05);
  TrainView counts = number_view(200, 2);
  counts.y.value = counts.y.value.array().abs().round();
  TrainView many = counts;
  many.y.value.setConstant(1e6);
  const Model rate = fitted("trees loss=poisson rounds=10 leaves=4", counts);
  const Vector before = rate.predict({counts.x, {}}, context()).value;
  const Vector after = rate.refitted(many, 2, context()).predict({counts.x, {}}, context()).value;
  EXPECT_LT((after.array() / before.array()).maxCoeff(), std::exp(0.7) + 1e-9);  // 10 rounds of at most 0.07
  EXPECT_GT((after.array() / before.array()).minCoeff(), 1.5);
}

TEST(Refit, MovesLeavesTowardsTheRows) {
  const TrainView view = product_view(400, 3);
  TrainView target = product_view(40, 1);
  for (auto& cls : target.y.index) cls = 1;
  target.y.index[0] = 0;
  const Model model = fitted("trees rounds=20 leaves=6", view);
  const auto mean = [&](const Model& of) { return of.predict({view.x, {}}, context()).probability.col(1).mean(); };
  const double before = mean(model), little = mean(model.refitted(target, 50, context())),
               much = mean(model.refitted(target, 2, context()));
  EXPECT_LT(before, little);
  EXPECT_LT(little, much);
  EXPECT_NEAR(mean(model.refitted(target, 1e12, context())), before, 1e-9);
  EXPECT_EQ(code_of([&] { fitted("impute | logistic", view).refitted(target, 2, context()); }), "cannot_refit");
  const TrainView numbers = number_view(100, 2);
  EXPECT_EQ(code_of([&] { fitted("trees loss=absolute rounds=3", numbers).refitted(numbers, 2, context()); }),
            "cannot_refit");
  EXPECT_EQ(code_of([&] { model.refitted(numbers, 2, context()); }), "needs_classes");
  TrainView unknown = target;
  unknown.y.classes = {"c0", "c7"};
  EXPECT_EQ(code_of([&] { model.refitted(unknown, 2, context()); }), "unknown_class");
}

TEST(Refit, RefusesWhatMovesNothingOrTooFar) {
  TrainView view = product_view(120, 2);
  const Model model = fitted("trees rounds=3 leaves=3", view);
  for (const double strength : {0.0, -1.0, nan, HUGE_VAL})
    EXPECT_EQ(code_of([&] { model.refitted(view, strength, context()); }), "bad_option") << strength;
  view.weight = Vector::Zero(120);
  EXPECT_EQ(code_of([&] { model.refitted(view, 2, context()); }), "zero_weights");
  const TrainView three = product_view(120, 2, 3);
  EXPECT_NE(message_of([&] {
              fitted("trees rounds=2 leaves=3 multiclass=ova", three).refitted(three, 2, context());
            }).find("without multiclass=ova"),
            std::string::npos);
}

TEST(Refit, RefusesLabelsThatFitRefuses) {
  const TrainView view = number_view(200, 2);
  const Model model = fitted("trees rounds=5 leaves=4", view);
  TrainView bad = number_view(30, 1);
  bad.y.value[3] = HUGE_VAL;
  EXPECT_EQ(code_of([&] { model.refitted(bad, 2, context()); }), "non_finite");
  bad.y.value[3] = 1e300;
  EXPECT_EQ(code_of([&] { model.refitted(bad, 2, context()); }), "bad_label");
  EXPECT_EQ(message_of([&] { model.refitted(bad, 2, context()); }).find("refit: the label"), 0U);
}

/// How the old leaves fared in unseen domains is no promise of the new ones.
TEST(Refit, DropsWhatNoLongerHoldsAndCounts) {
  const TrainView view = product_view(200, 2), few = product_view(20, 1);
  const Model model = fitted("trees rounds=5 leaves=4", view).with_note("expect", {{"level", 0.9}});
  const Model once = model.refitted(few, 2, context());
  EXPECT_FALSE(once.notes().contains("expect"));
  EXPECT_EQ(once.notes()["refit"]["times"], 1);
  EXPECT_EQ(reloaded(once).refitted(few, 3, context()).notes()["refit"],
            Json({{"rows", 20}, {"domains", {"d1"}}, {"strength", 3.0}, {"times", 2.0}}));
}

TEST(Refit, TwiceTheWeightIsTheRowTwice) {
  const TrainView view = product_view(300, 2);
  const Model model = fitted("trees rounds=8 leaves=5", view);
  TrainView weighted = product_view(24, 1);
  std::vector<Index> twice;
  for (Index i = 0; i < 24; ++i) twice.insert(twice.end(), i < 6 ? 2 : 1, i);
  const TrainView copied = view_of_rows(weighted, twice);
  weighted.weight = Vector::Ones(24);
  weighted.weight.head(6).setConstant(2);
  const auto score = [&](const TrainView& rows) {
    return model.refitted(rows, 2, context()).predict({view.x, {}}, context()).score;
  };
  EXPECT_LT((score(weighted) - score(copied)).cwiseAbs().maxCoeff(), 1e-12);
}

/// A refit weighs classes as the fit did.
TEST(Refit, ClassWeightsAreWeightsOfTheRows) {
  const TrainView view = product_view(300, 2);
  TrainView few = product_view(30, 1);
  for (Index i = 0; i < 20; ++i) few.y.index[at(i)] = 0;
  few.weight = Vector::LinSpaced(30, 1, 2);
  ASSERT_LT(std::ranges::count(few.y.index, 0), 30);
  Vector balanced = Vector::Zero(2);
  for (Index i = 0; i < 30; ++i) balanced[few.y.index[at(i)]] += few.weight[i];
  balanced = (few.weight.sum() / 2 / balanced.array()).eval();
  const std::vector<std::pair<std::string, Vector>> cases = {{"c0:3", (Vector(2) << 3, 1).finished()},
                                                             {"balanced", balanced}};
  for (const auto& [text, of_class] : cases) {
    const Model model = fitted("trees rounds=8 leaves=5 class_weight=" + text, view);
    // The same trees with an option that changes nothing any more: rows weighed by hand are weighed once.
    const auto plain = fitted("trees rounds=8 leaves=5 class_weight=c0:1,c1:1", weighted_by_class(view, text));
    TrainView by_hand = few;
    for (Index i = 0; i < 30; ++i) by_hand.weight[i] *= of_class[few.y.index[at(i)]];
    const auto score = [&](const Model& of) { return of.predict({view.x, {}}, context()).score; };
    ASSERT_EQ(score(model), score(plain)) << text;
    EXPECT_LT(
        (score(model.refitted(few, 2, context())) - score(plain.refitted(by_hand, 2, context()))).cwiseAbs().maxCoeff(),
        1e-12)
        << text;
    EXPECT_GT(
        (score(model.refitted(few, 2, context())) - score(plain.refitted(few, 2, context()))).cwiseAbs().maxCoeff(),
        1e-3)
        << text;
  }
  for (auto& cls : few.y.index) cls = 0;
  const auto refit = [&](const char* text) {
    fitted(std::string("trees rounds=3 leaves=3 class_weight=") + text, view).refitted(few, 2, context());
  };
  EXPECT_EQ(code_of([&] { refit("balanced"); }), "zero_weights");
  EXPECT_EQ(message_of([&] { refit("balanced"); }).find("refit: class_weight=balanced needs rows of every class"), 0U);
  EXPECT_EQ(code_of([&] { refit("c1:2"); }), "none");
}

TEST(Refit, RefusesWeightsThatCannotBeSummed) {
  const TrainView view = number_view(200, 2);
  TrainView few = number_view(30, 1);
  few.y.value *= 1e100;
  few.weight = Vector::Constant(30, 1e100);
  const Model model = fitted("trees rounds=3 leaves=3", view);
  EXPECT_EQ(message_of([&] { model.refitted(few, 2, context()); }),
            "refit: the labels times the weights are too large to be summed; divide labels or weights");
}

}  // namespace refit_test
}  // namespace ecotone::test
