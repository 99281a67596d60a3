#include "ecotone/methods/held_rows.h"

#include "ecotone/methods/registry.h"
#include "methods/support.h"

namespace ecotone::test {
namespace held_rows_test {

constexpr Index rows = 80;

Index held_by(const std::string& text, Index classes = 2) {
  const Model model = fitted(text, overlapping(rows, 3, classes, 4, 20));
  return model.training_rows(0);
}

TEST(HeldRows, AreCountedWhereAStageKeepsThem) {
  EXPECT_GT(held_by("svm"), rows / 4);
  EXPECT_LE(held_by("svm"), rows);
  EXPECT_EQ(held_by("svm distributional=true"), rows);  // the samples of the domains
  EXPECT_EQ(held_by("svm kernel=linear route=low_rank"), 0);
  EXPECT_EQ(held_by("svm route=low_rank rank=7"), 7);
  EXPECT_GT(held_by("svm multiclass=ovo", 3), held_by("svm"));
  EXPECT_GT(held_by("dasvm circular=false"), 0);
  EXPECT_EQ(held_by("daboost smooth=knn rounds=3"), 20);
  EXPECT_EQ(held_by("daboost rounds=3"), 0);
  for (const char* text : {"logistic l2=1", "adaboost rounds=3", "constant", "scale | logistic l2=1", "ridge"})
    EXPECT_EQ(held_by(text), 0) << text;
}

TEST(HeldRows, OfComponentsAndProcesses) {
  EXPECT_EQ(held_by("kpca components=2 | constant"), rows + 20);  // it also learns from the target's rows
  EXPECT_EQ(held_by("dica components=2 lam=0.1 | constant"), rows);
  EXPECT_EQ(held_by("kpca components=2 kernel=linear | constant"), 0);
  EXPECT_EQ(held_by("kpca components=2 route=lowrank rank=9 | constant"), 9);
  EXPECT_EQ(held_by("kpca components=2 route=lowrank rank=9 map=fourier | constant"), 0);
  TrainView numbers = overlapping(rows, 3, 2, 4);
  numbers.y = {Task::regress, {}, {}, Vector::LinSpaced(rows, 0, 1)};
  EXPECT_EQ(fitted("gp", numbers).training_rows(0), rows);
  EXPECT_EQ(fitted("gp route=low_rank rank=11", numbers).training_rows(0), 11);
}

TEST(HeldRows, ModelsThatHoldThemAreRefusedByStage) {
  const TrainView view = overlapping(rows, 3, 2, 4);
  EXPECT_NO_THROW(fitted("scale | logistic l2=1", view).require_no_rows());
  const Model model = fitted("scale | kpca components=2 | logistic l2=1", view);
  EXPECT_EQ(code_of([&] { model.require_no_rows(); }), "holds_rows");
  EXPECT_EQ(message_of([&] { model.require_no_rows(); }),
            "--no-rows: stage 2, kpca, holds 80 training rows; route=lowrank map=fourier holds random frequencies "
            "instead");
  EXPECT_EQ(model.inspect()["stages"][1]["training_rows"], 80);
  EXPECT_FALSE(model.inspect()["stages"][0].contains("training_rows"));
  EXPECT_EQ(reloaded(model).training_rows(1), 80);
}

TEST(HeldRows, EveryMethodThatHoldsThemSaysWhatToDo) {
  const TrainView view = overlapping(rows, 3, 2, 4, 20);
  TrainView numbers = view;
  numbers.y = {Task::regress, {}, {}, Vector::LinSpaced(rows, 0, 1)};
  for (const Method& method : methods()) {
    if (method.reads_scores()) continue;
    const std::string text = method.can_predict() ? method.name : method.name + " | constant";
    const Model model = fitted(text, method.regression_only() ? numbers : view);
    EXPECT_TRUE(model.training_rows(0) == 0 || !method.without_rows.empty()) << method.name;
  }
}

}  // namespace held_rows_test
}  // namespace ecotone::test
