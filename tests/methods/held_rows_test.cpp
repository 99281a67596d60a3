#include "ecotone/methods/held_rows.h"

#include <algorithm>

#include "ecotone/methods/one_class_domains.h"
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
  EXPECT_EQ(held_by("kpca components=2 route=low_rank rank=9 | constant"), 9);
  EXPECT_EQ(held_by("kpca components=2 route=low_rank rank=9 map=fourier | constant"), 0);
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
            "--no-rows: stage 2, kpca, holds 80 training rows; route=low_rank map=fourier holds random frequencies "
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
    if (method.follows_learner()) continue;
    const std::string text = method.can_predict() ? method.name : method.name + " | constant";
    const Model model = fitted(text, method.regression_only() ? numbers : view);
    EXPECT_TRUE(model.training_rows(0) == 0 || !method.without_rows.empty()) << method.name;
  }
  // What it holds depends on its base.
  const Model worst = fitted("groupdro base=svm rounds=2", view);
  EXPECT_GT(worst.training_rows(0), 0);
  EXPECT_TRUE(message_of([&] { worst.require_no_rows(); }).ends_with("such as logistic or ridge"));
}

TEST(OneClassDomains, AreWarnedOfIfNewAndLargeEnough) {
  Recorder recorder;
  const Context run = context().observed_by(&recorder);
  Batch batch{Features::dense(Matrix::Zero(30, 1)), dealt_domains(30, 2)};
  Prediction prediction;
  prediction.index.assign(30, 0);
  for (std::size_t i = 1; i < 30; i += 2) prediction.index[i] = 1;
  warn_of_one_class_domains("svm", batch, prediction, {"no", "yes"}, {"d1"}, run);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "one_class_domain");
  EXPECT_NE(recorder.warnings[0].second.find("svm: all 15 rows of the new domain 'd2' get class 'yes';"),
            std::string::npos);
  warn_of_one_class_domains("svm", batch, prediction, {"no", "yes"}, {"d1", "d2"}, run);
  batch.domain = dealt_domains(30, 10);  // three rows each
  warn_of_one_class_domains("svm", batch, prediction, {"no", "yes"}, {}, run);
  batch.domain.reset();  // one new domain, with both classes
  warn_of_one_class_domains("svm", batch, prediction, {"no", "yes"}, {}, run);
  EXPECT_EQ(recorder.warnings.size(), 1U);
  prediction.index.assign(30, 1);
  warn_of_one_class_domains("svm", batch, prediction, {"no", "yes"}, {}, run);
  EXPECT_EQ(recorder.warnings.size(), 2U);
}

TEST(OneClassDomains, OfADistributionalMachineAreFoundAtPrediction) {
  const TrainView view = overlapping(rows, 3, 2, 4);
  const Matrix far = view.x.to_matrix().array() + 100;
  const Batch batch{Features::dense(far), Domains{{"far"}, std::vector<std::int32_t>(rows, 0)}};
  const auto said = [&](const std::string& text) {
    Recorder recorder;
    const Prediction prediction = fitted(text, view).predict(batch, context().observed_by(&recorder));
    EXPECT_EQ(prediction.index, std::vector<std::int32_t>(rows, prediction.index[0])) << text;
    return std::ranges::count(recorder.warnings, "one_class_domain", &std::pair<std::string, std::string>::first);
  };
  EXPECT_EQ(said("svm distributional=true"), 1);
  EXPECT_EQ(said("svm distributional=true route=low_rank"), 1);
  EXPECT_EQ(said("svm"), 0);  // it looks at no domain
}

}  // namespace held_rows_test
}  // namespace ecotone::test
