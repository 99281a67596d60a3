#include "ecotone/reproduce/kinds/labels.h"

#include "ecotone/report/json/json.h"
#include "reproduce/support.h"

namespace ecotone::test {
namespace labels_test {

using ::testing::HasSubstr;

Json recipe() {
  return Json::parse(R"({
    "paper": "key", "title": "Small", "items": [{
      "table": "one", "title": "t", "kind": "labels", "metric": "labels", "repetitions": 2,
      "pipeline": "logistic l2=0.01", "runs": 3, "reach": 0.9, "test_share": 0.5,
      "columns": [{"column": "easy", "generator": "separable10", "options": {"pool": "300", "test": "0"}, "budget": 40},
                  {"column": "short", "generator": "separable10", "options": {"pool": "300", "test": "0"}, "budget": 10}],
      "rows": [{"row": "full", "full": true},
               {"row": "random", "strategy": "random"},
               {"row": "least", "strategy": "least_confidence explore=0"},
               {"row": "least less half", "strategy": "least_confidence explore=0", "minus": "random", "times": 0.5},
               {"row": "failed", "strategy": "least_confidence explore=0", "failed": true}]}]})");
}

TEST(ExperimentLabels, CountsTheLabelsThatStrategiesNeed) {
  const Experiment experiment = experiment_of(recipe());
  const ExperimentItem& item = experiment.items[0];
  const Reproduction result = reproduce(experiment, item, {.data = {}, .draw = true}, on(2));
  ASSERT_EQ(result.rows.size(), 10U);
  EXPECT_GT(ours(result, "full", "easy"), 90);
  EXPECT_GE(ours(result, "random", "easy"), 10);
  EXPECT_LE(ours(result, "random", "easy"), 40);
  EXPECT_NEAR(ours(result, "least less half", "easy"),
              ours(result, "least", "easy") - 0.5 * ours(result, "random", "easy"), 1e-12);
  // Ten labels are not enough in ten dimensions, and runs that fail count as the budget.
  EXPECT_EQ(ours(result, "failed", "short"), 100);
  EXPECT_EQ(ours(result, "least", "short"), 10);
  ASSERT_EQ(result.figures.charts.size(), 2U);
  const LineChart& curves = result.figures.charts[0];
  ASSERT_EQ(curves.lines.size(), 2U);
  EXPECT_EQ(curves.x.front(), 10);
  EXPECT_EQ(curves.x.back(), 40);
  EXPECT_EQ(curves.lines[0].values.size(), curves.x.size());
  EXPECT_EQ(curves.lines[0].name, "least_confidence explore=0");
  EXPECT_TRUE(curves.lines[1].dashed);
  EXPECT_GT(curves.level, 0.8);
  const auto run = [&](int threads, std::uint64_t seed) {
    return to_json(reproduce(experiment, item, {}, on(threads, seed))).dump();
  };
  EXPECT_EQ(run(1, 0), run(3, 0));
  EXPECT_NE(run(1, 0), run(1, 1));
}

TEST(ExperimentLabels, RefusesWrongFields) {
  const auto refusal = [](const auto& change) {
    Json json = recipe();
    change(json["items"][0]);
    const Error error = error_of([&] { experiment_of(json); });
    EXPECT_EQ(error.code(), "bad_experiment") << error.what();
    return std::string(error.what());
  };
  EXPECT_THAT(refusal([](Json& item) { item["pipeline"] = "scale"; }), HasSubstr("does not end in a learner"));
  EXPECT_THAT(refusal([](Json& item) { item["columns"][0]["generator"] = "seperable10"; }), HasSubstr("did you mean"));
  EXPECT_THAT(refusal([](Json& item) { item["columns"][0]["options"]["rows"] = "3"; }), HasSubstr("rows"));
  EXPECT_THAT(refusal([](Json& item) { item["columns"][0]["budget"] = 3; }), HasSubstr("'budget'"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][1]["strategy"] = "luck"; }), HasSubstr("luck"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][3]["minus"] = "full"; }), HasSubstr("not the row of a strategy"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][3]["row"] = "least"; }), HasSubstr("two rows"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][0]["strategy"] = "random"; }), HasSubstr("unknown field"));
}

}  // namespace labels_test
}  // namespace ecotone::test
