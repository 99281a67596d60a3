#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/reproduce/kinds/boost.h"
#include "ecotone/reproduce/kinds/boost_parts.h"
#include "reproduce/support.h"

namespace ecotone::test {
namespace experiment_boost_test {

using ::testing::HasSubstr;

Json recipe() {
  return Json::parse(R"({
    "paper": "key", "title": "Small", "items": [{
      "table": "one", "title": "t", "kind": "boost", "metric": "error", "repetitions": 3, "trimmed": 1,
      "rows_per_domain": 60, "test": 200, "angles": ["0", "20"],
      "runs": [{"run": "bound", "select": "min_bound", "candidates": 5, "gamma": 0.2, "rounds": 150},
               {"run": "literal", "select": "max_wtplus", "candidates": 1, "gamma": 0.2, "rounds": 150, "runs": 2}],
      "rows": [{"row": "SVM", "method": "svm", "C": [1, 10], "gamma": [2, 8], "folds": 3},
               {"row": "AdaBoost", "method": "adaboost", "rounds": 40},
               {"row": "DABoost", "method": "daboost", "run": "bound", "rule": "eq13"},
               {"row": "DABoost-H", "method": "daboost", "run": "bound", "rule": "eq14"},
               {"row": "DABoost*", "method": "daboost", "run": "bound", "rule": "best"},
               {"row": "DABoost last", "method": "daboost", "run": "bound", "rule": "last"},
               {"row": "DABoost vote", "method": "daboost", "run": "literal", "rule": "vote"},
               {"row": "DASVM", "method": "dasvm", "C": [1], "gamma": [8], "rho": [5]},
               {"row": "back", "method": "dasvm", "C": [1], "gamma": [8], "rho": [5], "of": "circular_accuracy",
                "hidden": true}],
      "claims": [{"claim": "the way back", "row": "back", "column": "0", "at_least": 90},
                 {"claim": "difference", "row": "AdaBoost", "minus": "DABoost*", "column": "20", "at_least": 0},
                 {"claim": "not so", "row": "AdaBoost", "minus": "AdaBoost", "column": "20", "at_least": 1}]},
     {"figure": "two", "title": "t", "kind": "boost_figure", "metric": "m", "repetitions": 2,
      "rows_per_domain": 60, "angle": "20",
      "run": {"select": "max_wtplus", "candidates": 1, "gamma": 0.2, "rounds": 150}}]})");
}

TEST(ExperimentBoost, MeasuresErrorsOfEveryMethod) {
  const Experiment experiment = experiment_of(recipe());
  const Reproduction result = reproduce(experiment, experiment.item("one"), {}, on(2));
  ASSERT_EQ(result.rows.size(), 16U);  // eight rows that are not hidden, two angles
  // Without a turn the source's machines are right about the target.
  EXPECT_EQ(ours(result, "SVM", "0"), 0);
  EXPECT_EQ(ours(result, "DASVM", "0"), 0);
  EXPECT_LT(ours(result, "AdaBoost", "0"), 10);
  for (const char* angle : {"0", "20"}) {
    EXPECT_LE(ours(result, "DABoost*", angle), ours(result, "DABoost last", angle));
    EXPECT_LE(ours(result, "DABoost*", angle), ours(result, "DABoost-H", angle));
    EXPECT_LE(ours(result, "DABoost*", angle), ours(result, "DABoost", angle));
  }
  EXPECT_GT(ours(result, "AdaBoost", "20"), 10);
  EXPECT_EQ(result.claims[0].holds, true);
  EXPECT_DOUBLE_EQ(result.claims[1].ours, ours(result, "AdaBoost", "20") - ours(result, "DABoost*", "20"));
  EXPECT_EQ(result.claims[1].holds, true);
  EXPECT_EQ(result.claims[2].ours, 0);
  EXPECT_EQ(result.claims[2].holds, false);
  EXPECT_EQ(to_json(result)["claims"][1]["minus"], "DABoost*");
}

TEST(ExperimentBoost, LeavesOutTheSmallestAndTheLargest) {
  Json json = recipe();
  const Experiment trimmed = experiment_of(json);
  json["items"][0].erase("trimmed");
  const Experiment whole = experiment_of(json);
  const Reproduction middle = reproduce(trimmed, trimmed.item("one"), {}, on(2));
  const Reproduction mean = reproduce(whole, whole.item("one"), {}, on(2));
  EXPECT_EQ(middle.trimmed, 1);
  EXPECT_FALSE(middle.rows[1].spread);  // one value is left
  ASSERT_TRUE(mean.rows[1].spread);
  // Of three values m is the median: mean and spread bound how far it lies from the mean.
  EXPECT_LE(std::abs(middle.rows[1].ours - mean.rows[1].ours), *mean.rows[1].spread);
  EXPECT_EQ(error_of([&] { reproduce(trimmed, trimmed.item("one"), {.repetitions = 2, .data = {}}, on(1)); }).code(),
            "too_few_repetitions");
  EXPECT_THAT(reproduction_table(middle), HasSubstr("without the 1 smallest and largest of each cell"));
}

TEST(ExperimentBoost, IsTheSameBytesForAnyNumberOfThreads) {
  const Experiment experiment = experiment_of(recipe());
  for (const char* item : {"one", "two"}) {
    const std::string one = to_json(reproduce(experiment, experiment.item(item), {}, on(1))).dump();
    EXPECT_EQ(one, to_json(reproduce(experiment, experiment.item(item), {}, on(3))).dump());
    EXPECT_NE(one,
              to_json(reproduce(experiment, experiment.item(item), {}, Context({.threads = 2, .seed = 9}))).dump());
  }
}

TEST(ExperimentBoost, RefusesWrongFields) {
  const auto refusal = [](const auto& change) {
    Json json = recipe();
    change(json["items"][0]);
    const Error error = error_of([&] { experiment_of(json); });
    EXPECT_EQ(error.code(), "bad_experiment");
    return std::string(error.what());
  };
  EXPECT_THAT(refusal([](Json& item) { item["rows"][0]["method"] = "oracle"; }), HasSubstr("'method'"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][0]["C"] = Json::array({-1}); }), HasSubstr("'C'"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][2]["run"] = "none"; }), HasSubstr("no run 'none'"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][2]["rule"] = "luck"; }), HasSubstr("'rule'"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][8]["of"] = "luck"; }), HasSubstr("'of'"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][7]["rho"] = Json::array({1.5}); }), HasSubstr("'rho'"));
  EXPECT_THAT(refusal([](Json& item) { item["rows"][1]["row"] = "SVM"; }), HasSubstr("two rows"));
  EXPECT_THAT(refusal([](Json& item) { item["runs"][0]["select"] = "best"; }), HasSubstr("'select'"));
  EXPECT_THAT(refusal([](Json& item) { item["runs"][0]["gamma"] = 1; }), HasSubstr("'gamma'"));
  EXPECT_THAT(refusal([](Json& item) { item["colour"] = "red"; }), HasSubstr("'colour'"));
  EXPECT_THAT(refusal([](Json& item) { item["trimmed"] = 2; }), HasSubstr("'trimmed'"));
  EXPECT_THAT(refusal([](Json& item) { item["claims"][1]["minus"] = "nobody"; }), HasSubstr("nobody"));
}

TEST(ExperimentBoost, TiesAreSettledByTheirMedians) {
  const std::vector<std::vector<double>> settings{{1, 1}, {1, 10}, {10, 1}, {10, 10}, {100, 10}};
  EXPECT_EQ(middle_of_best({5, 4, 3, 2, 1}, settings), 0U);
  EXPECT_EQ(middle_of_best({9, 9, 9, 9, 9}, settings), 3U);  // medians 10 and 10
  EXPECT_EQ(middle_of_best({9, 0, 9, 0, 9}, settings), 2U);  // medians 10 and 1
}

TEST(ExperimentBoostFigure, TellsTheFirstZeroFromTheOneThatLasts) {
  EXPECT_EQ(first_zero({0.5, 0, 0.25, 0, 0}), 2);
  EXPECT_EQ(zero_from({0.5, 0, 0.25, 0, 0}), 4);
  EXPECT_EQ(zero_from({0, 0}), 1);
  EXPECT_EQ(first_zero({0.5, 0.5}), 3);
  EXPECT_EQ(zero_from({0, 0.5}), 3);
}

TEST(ExperimentBoostFigure, CountsRoundsAndRegionsAndDrawsThem) {
  const Experiment experiment = experiment_of(recipe());
  const ExperimentItem& item = experiment.item("two", "figure");
  ReproduceOptions options;
  options.draw = true;
  const Reproduction result = reproduce(experiment, item, options, on(2));
  EXPECT_GE(ours(result, "round from which the target loss stays 0", "20"), 1);
  EXPECT_GE(ours(result, "round from which the source loss stays 0", "20"),
            ours(result, "first round at which the source loss is 0", "20"));
  EXPECT_GT(ours(result, "source region, % right", "20"), 90);
  EXPECT_GT(ours(result, "target region, % right", "20"), 50);
  const Figures& figures = result.figures;
  ASSERT_EQ(figures.charts.size(), 1U);
  ASSERT_EQ(figures.maps.size(), 2U);
  // The chart's first repetition is one of the two that the table counts.
  const std::vector<double>& loss = figures.charts[0].lines[1].values;
  ASSERT_EQ(loss.size(), 150U);
  EXPECT_TRUE(std::ranges::find(loss, 0.0) != loss.end());
  const RegionMap& source = figures.maps[0];
  EXPECT_EQ(source.points.rows(), 60);
  // Source rows lie where the source classifier says their class.
  Index right = 0;
  for (Index i = 0; i < source.points.rows(); ++i) {
    const double x = (source.points(i, 0) - source.left) / (source.right - source.left);
    const double y = (source.points(i, 1) - source.bottom) / (source.top - source.bottom);
    const double said = source.score(static_cast<Index>(y * static_cast<double>(source.score.rows())),
                                     static_cast<Index>(x * static_cast<double>(source.score.cols())));
    right += (said > 0) == (source.classes[static_cast<std::size_t>(i)] > 0);
  }
  EXPECT_GE(right, 57);
  EXPECT_TRUE(has_figures(item));
  EXPECT_FALSE(has_figures(experiment.item("one")));
  EXPECT_TRUE(reproduce(experiment, item, {}, on(2)).figures.empty());
}

}  // namespace experiment_boost_test
}  // namespace ecotone::test
