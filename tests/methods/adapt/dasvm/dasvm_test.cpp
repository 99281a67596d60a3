#include "ecotone/methods/adapt/dasvm/dasvm.h"

#include <cmath>

#include "ecotone/data/generate/generate.h"
#include "ecotone/methods/registry.h"
#include "methods/support.h"

namespace ecotone::test {
namespace dasvm_test {

constexpr const char* narrow = "dasvm C=1 sigma=0.25";

Dataset moons(const char* angle, const char* rows = "200") {
  return generate("moons", {{"angle", angle}, {"rows", rows}, {"test", "300"}}, context());
}

TrainView view_of_moons(const Dataset& data) {
  return train_view(data, data.domain.rows_of(0), data.domain.rows_of(1), context());
}

double test_error(const Model& model, const Dataset& data) {
  const std::vector<Index> rows = data.domain.rows_of(2);
  const Prediction prediction = model.predict(batch(data, rows), context());
  double wrong = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    wrong += prediction.index[i] != data.y->index[static_cast<std::size_t>(rows[i])];
  return wrong / static_cast<double>(rows.size());
}

TEST(DasvmStage, GivesWhatItsEngineFinds) {
  const Dataset data = moons("20");
  const TrainView view = view_of_moons(data);
  const Model model = fitted(narrow, view);
  const Matrix x = view.x.to_matrix();
  std::vector<double> y;
  for (const std::int32_t k : view.y.index) y.push_back(k == 1 ? 1 : -1);
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 0.25};
  const DasvmFit fit = fit_dasvm({.x = x, .y = y, .kernel = kernel, .cost = 1}, context());
  const Json stage = model.inspect()["stages"][0];
  EXPECT_EQ(stage["reason"], "settled");
  EXPECT_EQ(stage["rounds"].get<std::size_t>(), fit.history.size());
  EXPECT_EQ(stage["circular_accuracy"], *fit.circular_accuracy);
  EXPECT_EQ(stage["offset"], fit.offset);
  EXPECT_EQ(test_error(model, data), 0);
  const Prediction prediction = model.predict({view.x, std::nullopt}, context());
  for (Index i = 0; i < 200; ++i) {
    const std::size_t row = static_cast<std::size_t>(200 + i);
    EXPECT_EQ(prediction.index[row] == 1 ? 1 : -1, fit.labels[static_cast<std::size_t>(i)]);
    EXPECT_NEAR(prediction.probability(200 + i, 1), 1 / (1 + std::exp(-2 * prediction.score(200 + i, 0))), 1e-12);
  }
}

TEST(DasvmStage, BeatsThePlainMachineOnAModerateTurn) {
  const Dataset data = moons("30");
  const TrainView view = view_of_moons(data);
  EXPECT_GT(test_error(fitted("svm C=1 sigma=0.4", view), data), 0.1);
  EXPECT_LT(test_error(fitted("dasvm C=1 sigma=0.4", view), data), 0.02);
}

TEST(DasvmStage, WarnsOfAnAdaptationThatDoesNotFindTheWayBack) {
  const Dataset data = moons("75");
  Recorder recorder;
  const Model model = fitted(narrow, view_of_moons(data), context().observed_by(&recorder));
  const double accuracy = model.inspect()["stages"][0]["circular_balanced_accuracy"].get<double>();
  EXPECT_LT(accuracy, 0.7);
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "untrusted_adaptation");
  EXPECT_EQ(recorder.warnings[0].second,
            fmt::format("dasvm: balanced circular accuracy {:.2f}: do not trust this adaptation", accuracy));
  Recorder quiet;
  const Model alone =
      fitted(std::string(narrow) + " circular=false", view_of_moons(data), context().observed_by(&quiet));
  EXPECT_TRUE(quiet.warnings.empty());
  EXPECT_TRUE(alone.inspect()["stages"][0]["circular_accuracy"].is_null());
  EXPECT_EQ(reloaded(alone).bytes(), alone.bytes());
}

TEST(DasvmStage, WarnsOfSeveralClassesThatBecomeOne) {
  // Five classes and a target far from all of them: every machine of one class versus the others says "others", which
  // is right about four fifths of the source rows.
  TrainView view = overlapping(100, 5, 5, 2, 50);
  Matrix x = view.x.to_matrix();
  x.bottomRows(50).array() += 1000;
  view.x = Features::dense(std::move(x));
  Recorder recorder;
  const Model model = fitted("dasvm sigma=2 rho=5", view, context().observed_by(&recorder));
  std::size_t untrusted = 0, one_class = 0;
  for (const auto& warning : recorder.warnings) {
    untrusted += warning.first == "untrusted_adaptation" ? 1 : 0;
    one_class += warning.first == "target_one_class" ? 1 : 0;
  }
  EXPECT_GE(untrusted, 1U);
  EXPECT_GE(one_class, 1U);
}

TEST(DasvmStage, SaysThatAMachineDidNotConverge) {
  DasvmOptions options{.sigma = AutoNumber{0.25}};
  options.tolerance = 1e-300;  // pipelines refuse it; rounding keeps fits from getting so close
  FitCache cache;
  const StageResult result = Dasvm::fit(view_of_moons(moons("20", "40")), options, context(), cache);
  EXPECT_FALSE(result.status.converged);
  EXPECT_EQ(result.status.text.substr(0, 14), "stopped after ");
  EXPECT_EQ(result.fitted->save().info["reason"], "not_converged");
}

TEST(DasvmStage, SaysThatItDidNotSettle) {
  const Dataset data = moons("20");
  const Model model = fitted(std::string(narrow) + " max_rounds=2", view_of_moons(data));
  EXPECT_FALSE(model.statuses()[0].converged);
  EXPECT_EQ(model.statuses()[0].text, "not settled after 2 rounds; raise max_rounds or rho");
  EXPECT_EQ(model.inspect()["stages"][0]["reason"], "max_rounds");
}

TEST(DasvmStage, TakesLargerStepsOnManyRows) {
  const auto same = [](const char* rows, const char* rho) {
    const TrainView view = view_of_moons(moons("20", rows));
    const Json one = fitted(std::string(narrow) + " circular=false", view).inspect()["stages"][0];
    const Json other = fitted(std::string(narrow) + " circular=false rho=" + rho, view).inspect()["stages"][0];
    return one["rounds"] == other["rounds"] && one["offset"] == other["offset"];
  };
  EXPECT_TRUE(same("300", "10"));
  EXPECT_TRUE(same("1201", "13"));
}

TEST(DasvmStage, LearnsSeveralClassesAndCalibrates) {
  const TrainView view = overlapping(120, 3, 3, 2, 60);
  for (const char* text :
       {"dasvm rho=20", "dasvm rho=20 multiclass=ovo", "scale | dasvm rho=20 circular=false | calibrate"}) {
    const Model model = fitted(text, view);
    EXPECT_EQ(model.predict({view.x, std::nullopt}, context()).probability.cols(), 3) << text;
    EXPECT_EQ(reloaded(model).bytes(), model.bytes()) << text;
  }
}

TEST(DasvmStage, RefusesStatesThatCannotBe) {
  const Method& dasvm = method("dasvm");
  const Dataset data = moons("20", "40");
  FitCache cache;
  const OptionValues options = complete_options("dasvm", dasvm.options, OptionTexts{});
  const StageResult result = dasvm.fit(view_of_moons(data), options, context(), cache);
  const StageInput input{2, Task::classify, {"-1", "1"}};
  const auto refused = [&](const auto& change) {
    StageState state = result.fitted->save();
    change(state);
    return code_of([&] { dasvm.load(state, options, input); });
  };
  EXPECT_EQ(refused([](StageState&) {}), "none");
  EXPECT_EQ(refused([](StageState& s) { s.info["reason"] = "bored"; }), "bad_model");
  EXPECT_EQ(refused([](StageState& s) { s.info["rounds"] = 7777; }), "bad_model");
  EXPECT_EQ(refused([](StageState& s) { s.info["on_target"] = 1; }), "bad_model");
  EXPECT_EQ(refused([](StageState& s) { s.info.erase("circular_accuracy"); }), "bad_model");
  EXPECT_EQ(refused([](StageState& s) { s.info.erase("circular_balanced_accuracy"); }), "bad_model");
  EXPECT_EQ(refused([](StageState& s) { s.info["sigma"] = 0; }), "bad_model");
  EXPECT_EQ(refused([](StageState& s) { s.set("support", Matrix(3, 5)); }), "bad_model");
  EXPECT_EQ(refused([](StageState& s) { s.set("coefficients", Vector(Vector::Zero(1))); }), "bad_model");
}

}  // namespace dasvm_test
}  // namespace ecotone::test
