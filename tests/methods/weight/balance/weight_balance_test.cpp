#include "methods/align_golden.h"
#include "methods/support.h"

namespace ecotone::test {
namespace weight_balance_test {

StageResult balanced(const std::string& text, const TrainView& view) {
  const Stage stage = Pipeline::parse(text).stages().front();
  FitCache cache;
  return stage.method->fit(view, stage.options, context(), cache);
}

TEST(WeightBalance, GoldenDomainWeights) {
  const AlignGolden golden("12_robust");
  const Json task = golden.task("domain_weights");
  golden.expect(task, "weights", balanced("weight.balance", golden.classes("y")).next.weight);
  golden.expect(task, "by_class", balanced("weight.balance by=domain_class", golden.classes("y")).next.weight);
}

TEST(WeightBalance, KeepsGivenWeightsWithinADomain) {
  TrainView view = overlapping(60, 2, 2, 3, 10);
  view.domain.index[5] = 0;
  view.weight = Vector::LinSpaced(60, 0, 2);
  const StageResult result = balanced("weight.balance", view);
  Vector sum = Vector::Zero(3);
  for (Index i = 0; i < 60; ++i) sum[view.domain.index[at(i)]] += result.next.weight[i];
  EXPECT_NEAR(sum[0], view.weight.sum() / 3, 1e-12);
  EXPECT_NEAR(sum[1], sum[0], 1e-12);
  EXPECT_NEAR(sum[2], sum[0], 1e-12);
  EXPECT_EQ(result.next.weight[0], 0);
}

TEST(WeightBalance, CountsClassesInDomainsThatHaveThem) {
  TrainView view = overlapping(60, 2, 2, 2);
  for (std::size_t i = 0; i < 60; ++i)
    if (view.domain.index[i] == 1) view.y.index[i] = 0;
  const StageResult result = balanced("weight.balance by=domain_class", view);
  const Json state = result.fitted->save().info;
  ASSERT_EQ(state["cells"].size(), 3U);
  for (const Json& cell : state["cells"])
    EXPECT_NEAR(cell["rows"].get<double>() * cell["weight"].get<double>(), 20, 1e-12);
  view.y = Labels{Task::regress, {}, {}, Vector::Ones(60)};
  EXPECT_EQ(code_of([&] { balanced("weight.balance by=domain_class", view); }), "needs_classes");
}

TEST(WeightBalance, TreesBehindItSeeMissingValues) {
  TrainView view = overlapping(60, 3, 2, 2);
  Matrix x = view.x.to_matrix();
  x(3, 1) = nan;
  view.x = Features::dense(x);
  EXPECT_EQ(code_of([&] { fitted("weight.balance | trees rounds=2 leaves=4", view); }), "none");
}

TEST(WeightBalance, RefusesHostileStates) {
  const Method& balance = *Pipeline::parse("weight.balance").stages().front().method;
  const OptionValues options = Pipeline::parse("weight.balance").stages().front().options;
  StageState state = balanced("weight.balance", overlapping(20, 2, 2, 2)).fitted->save();
  const auto refused = [&] { return code_of([&] { balance.load(state, options, {2, Task::classify, {"a", "b"}}); }); };
  EXPECT_EQ(refused(), "none");
  state.info["cells"][0]["weight"] = -1;
  EXPECT_EQ(refused(), "bad_model");
  state.info["cells"] = 7;
  EXPECT_EQ(refused(), "bad_model");
}

}  // namespace weight_balance_test
}  // namespace ecotone::test
