#include "ecotone/label/simulate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "ecotone/data/generate/generate.h"
#include "ecotone/label/simulated_run.h"
#include "ecotone/report/json/json.h"
#include "methods/support.h"

namespace ecotone::test {
namespace simulate_test {

Context on(int threads) { return Context({.threads = threads, .seed = 7}); }

Dataset blobs(const std::string& rows = "300") {
  return generate("three_classes", {{"pool", rows}, {"test", "0"}}, on(2));
}

/// Two hospitals known, one to be labelled.
Dataset clinics() {
  Dataset data = generate("clinics", {{"size", "0.3"}, {"missing", "0"}}, on(2));
  set_targets(data, {"Brightwater"});
  return data;
}

Dataset numbers(Index rows = 120) {
  Random random(4, "numbers");
  Dataset data;
  Matrix x(rows, 2);
  Labels y{Task::regress, {}, {}, Vector(rows)};
  for (Index i = 0; i < rows; ++i) {
    x.row(i) << random.normal(), random.normal();
    y.value[i] = x(i, 0) - 2 * x(i, 1) + 0.1 * random.normal();
  }
  data.x = Features::dense(std::move(x));
  data.y = std::move(y);
  data.domain = dealt_domains(rows, 2);
  data.role = {Role::source, Role::source};
  return data;
}

const Pipeline& logistic() {
  static const Pipeline pipeline = Pipeline::parse("logistic l2=0.005");
  return pipeline;
}

std::vector<Strategy> parsed(const std::vector<std::string>& texts) {
  std::vector<Strategy> strategies;
  for (const std::string& text : texts) strategies.push_back(Strategy::parse(text));
  return strategies;
}

std::vector<std::string> names_of(const LabelSimulation& simulation) {
  std::vector<std::string> names;
  for (const StrategyCurve& curve : simulation.curves) names.push_back(curve.strategy);
  return names;
}

TEST(Simulate, GivesTheSameBytesForAnyNumberOfThreads) {
  const Dataset data = blobs();
  const auto strategies = parsed({"entropy batch=3", "neighbours batch=3 subset=40"});
  const SimulateOptions options{.budget = 40, .repeat = 5};
  const auto run = [&](int threads) {
    return to_json(simulate_labelling(data, logistic(), strategies, options, on(threads))).dump();
  };
  const std::string one = run(1);
  EXPECT_EQ(run(2), one);
  EXPECT_EQ(run(7), one);
}

TEST(Simulate, StrategiesShareHeldOutRowsAndSeed) {
  const LabelSimulation simulation =
      simulate_labelling(blobs(), logistic(), parsed({"least_confidence", "margin", "hyperplane", "neighbours"}),
                         {.budget = 15, .repeat = 4}, on(2));
  ASSERT_EQ(simulation.curves.size(), 5U);
  for (const StrategyCurve& curve : simulation.curves) {
    EXPECT_EQ(curve.points.front().labels, 10);
    EXPECT_EQ(curve.points.front().mean, simulation.start);
    EXPECT_EQ(curve.points.front().low, simulation.curves[0].points.front().low);
    EXPECT_EQ(curve.points.back().labels, 15);
  }
}

/// A strategy is what it is, whoever it is compared with, and `random` is the same given or added.
TEST(Simulate, CurvesDoNotDependOnTheOtherStrategies) {
  const Dataset data = blobs();
  const SimulateOptions options{.budget = 25, .repeat = 3};
  const auto run = [&](const std::vector<std::string>& texts) {
    return simulate_labelling(data, logistic(), parsed(texts), options, on(2));
  };
  const LabelSimulation both = run({"random", "entropy"});
  EXPECT_EQ(names_of(both), (std::vector<std::string>{"entropy", "random"}));
  const LabelSimulation entropy = run({"entropy"});
  EXPECT_EQ(to_json(both).dump(), to_json(entropy).dump());
  const LabelSimulation alone = run({"random"});
  EXPECT_EQ(to_json(alone).at("curves")[0].dump(), to_json(both).at("curves")[1].dump());
  EXPECT_EQ(names_of(run({"entropy batch=5 seed_size=8"})).back(), "random batch=5 seed_size=8");
  EXPECT_EQ(names_of(run({})).front(), "least_confidence");
}

/// Fits again, from a cold start, on what was asked up to each point: the audits are not among what was learned.
TEST(Simulate, LearnsFromAllQuestionsButTheAudits) {
  const Dataset data = clinics();
  const SimulateOptions options{.budget = 30, .repeat = 1, .audit = 3};
  const LabelRows rows = label_rows(data, Hide::pool);
  const Pipeline pipeline = Pipeline::parse("scale | logistic l2=0.01 tol=1e-10");
  const RunRows drawn = draw_run(data, rows, options, on(2));
  EXPECT_EQ(drawn.audit.size(), 10U);
  Progress progress(nullptr, "test", 30);
  const RunCurve curve =
      run_strategy(data, pipeline, drawn, Strategy::parse("least_confidence batch=4"), options, progress, on(2));
  ASSERT_EQ(curve.asked.size(), 30U);
  const MarkedRows held_out(data, drawn.held_out);
  for (const RunPoint& point : curve.points) {
    std::vector<Index> learned = drawn.known;
    std::vector<Index> audits;
    for (std::size_t i = 0; i < at(point.labels); ++i) {
      const AskedRow& asked = curve.asked[i];
      EXPECT_EQ(asked.why == Why::audit, (i + 1) % 3 == 0);
      (asked.why == Why::audit ? audits : learned).push_back(asked.row);
    }
    EXPECT_TRUE(std::ranges::equal(audits, drawn.audit | std::views::take(audits.size())));
    GrowingModel cold(data, pipeline);
    const Model model = cold.fit(*data.y, learned, {}, on(2));
    const auto value_on = [&](const MarkedRows& marked) {
      return value_of_errors(Task::classify, marked.errors(model.predict(marked.rows(), on(2)), model.classes()));
    };
    EXPECT_EQ(point.value, value_on(held_out)) << point.labels;
    ASSERT_EQ(point.audit.has_value(), !audits.empty());
    if (point.audit) {
      EXPECT_DOUBLE_EQ(point.audit->value, value_on(MarkedRows(data, audits))) << point.labels;
    }
  }
}

TEST(Simulate, AsksNoRowTwiceAndNoneThatIsHeldOut) {
  const Dataset data = blobs("60");
  const SimulateOptions options{.budget = 1000, .repeat = 1, .audit = 4};
  const RunRows drawn = draw_run(data, label_rows(data, Hide::pool), options, on(2));
  EXPECT_EQ(drawn.questions, 30);
  Progress progress(nullptr, "test", 1000);
  const RunCurve curve =
      run_strategy(data, logistic(), drawn, Strategy::parse("entropy batch=7"), options, progress, on(2));
  std::set<Index> asked;
  for (const AskedRow& row : curve.asked) {
    EXPECT_TRUE(asked.insert(row.row).second);
    EXPECT_TRUE(std::ranges::binary_search(drawn.pool, row.row));
    EXPECT_EQ(row.why == Why::audit, std::ranges::find(drawn.audit, row.row) != drawn.audit.end());
  }
  EXPECT_LE(asked.size(), 30U);
  EXPECT_GE(asked.size(), 28U);  // audits that would have fallen into the seed are not asked
}

TEST(Simulate, StopsAtTheBudget) {
  for (const Index budget : {3, 10, 23})
    for (const std::string text : {"entropy", "entropy batch=4"}) {
      const LabelSimulation simulation = simulate_labelling(clinics(), Pipeline::parse("scale | logistic l2=0.01"),
                                                            parsed({text}), {.budget = budget, .repeat = 2}, on(2));
      for (const StrategyCurve& curve : simulation.curves) {
        EXPECT_EQ(curve.points.front().labels, 0);
        EXPECT_EQ(curve.points.back().labels, budget);
        EXPECT_EQ(curve.points.back().audits, budget / 5);
      }
    }
}

TEST(Simulate, HoldsWholeGroupsOut) {
  Dataset data = clinics();
  for (Index i = 0; i < data.rows(); ++i) data.group.push_back(static_cast<std::int32_t>(i % 97));
  const auto groups_of = [&](const std::vector<Index>& rows) {
    std::set<std::int32_t> groups;
    for (const Index row : rows) groups.insert(data.group[at(row)]);
    return groups;
  };
  const auto disjoint = [](const std::set<std::int32_t>& a, const std::set<std::int32_t>& b) {
    std::vector<std::int32_t> common;
    std::ranges::set_intersection(a, b, std::back_inserter(common));
    return common.empty();
  };
  const RunRows drawn = draw_run(data, label_rows(data, Hide::pool), {.budget = 40}, on(1));
  EXPECT_EQ(drawn.audit.size(), 8U);
  const auto held_out = groups_of(drawn.held_out);
  const auto audits = groups_of(drawn.audit);
  EXPECT_TRUE(disjoint(held_out, groups_of(drawn.pool)));
  EXPECT_TRUE(disjoint(held_out, groups_of(drawn.known)));
  EXPECT_TRUE(disjoint(audits, groups_of(drawn.askable)));
  EXPECT_TRUE(disjoint(audits, groups_of(drawn.known)));
}

TEST(Simulate, MeasuresNumbersByTheirRmse) {
  const LabelSimulation simulation = simulate_labelling(numbers(), Pipeline::parse("ridge lam=0.001"), {},
                                                        {.budget = 30, .repeat = 6, .audit = 3}, on(2));
  EXPECT_EQ(simulation.metric, "rmse");
  EXPECT_EQ(names_of(simulation), (std::vector<std::string>{"neighbours", "random"}));
  EXPECT_NEAR(simulation.full, 0.1, 0.03);
  const CurvePoint& last = simulation.curves.back().points.back();
  EXPECT_LT(last.mean, simulation.start);
  EXPECT_EQ(last.audits, 7);  // questions 12, 15 .. 30: none within the seed
  ASSERT_TRUE(last.width);
  EXPECT_GT(*last.width, 0);
}

/// The labels of a run are those of the first of 5 fits in a row at the goal; with one run the points are its values.
TEST(Simulate, CountsLabelsToTheGoal) {
  for (const double reach : {0.01, 0.9, 0.95, 0.99, 1.0}) {
    const LabelSimulation simulation = simulate_labelling(
        blobs(), logistic(), parsed({"random"}), {.budget = 60, .repeat = 1, .audit = 0, .reach = reach}, on(2));
    const std::vector<CurvePoint>& points = simulation.curves[0].points;
    ASSERT_EQ(points.size(), 51U);
    std::optional<Index> expected;
    for (std::size_t i = 0; i + 5 <= points.size() && !expected; ++i)
      if (std::ranges::all_of(std::span(points).subspan(i, 5),
                              [&](const CurvePoint& point) { return point.mean >= reach * simulation.full; }))
        expected = points[i].labels;
    EXPECT_EQ(simulation.curves[0].reached[0], expected) << reach;
    EXPECT_EQ(simulation.curves[0].median_reached.has_value(), expected.has_value());
  }
}

TEST(Simulate, RefusesAtTheEntrance) {
  const SimulateOptions options{.budget = 20, .repeat = 2};
  const auto code = [&](const Dataset& data, const std::string& pipeline, const std::vector<std::string>& texts,
                        const SimulateOptions& with) {
    return code_of([&] { simulate_labelling(data, Pipeline::parse(pipeline), parsed(texts), with, on(2)); });
  };
  EXPECT_EQ(code(blobs(), "scale", {}, options), "no_learner");
  EXPECT_EQ(code(blobs(), "logistic", {"entropy", "entropy"}, options), "repeated_strategy");
  EXPECT_EQ(code(blobs(), "logistic", {"entropy domain_aware=true"}, options), "no_target");
  EXPECT_EQ(code(numbers(), "ridge", {"least_confidence"}, options), "needs_uncertainty");
  EXPECT_EQ(code(blobs(), "logistic", {}, {.budget = 0}), "bad_option");
  EXPECT_EQ(code(blobs(), "logistic", {}, {.test_share = 1}), "bad_option");
  Dataset bare = blobs();
  bare.y.reset();
  EXPECT_EQ(code(bare, "logistic", {}, options), "no_labels");
  Dataset unlabelled = blobs("20");
  std::ranges::fill(unlabelled.y->index, -1);
  EXPECT_EQ(code(unlabelled, "logistic", {}, options), "empty_data");
  Dataset one = blobs("20");
  std::ranges::fill(one.y->index, 1);
  EXPECT_EQ(code(one, "logistic", {}, options), "one_class");
}

TEST(Simulate, UsesTheVarianceOfALearnerThatHasOne) {
  const LabelSimulation simulation = simulate_labelling(numbers(40), Pipeline::parse("gp"), parsed({"entropy"}),
                                                        {.budget = 12, .repeat = 1, .audit = 0}, on(2));
  EXPECT_EQ(simulation.curves.front().points.back().labels, 12);
  EXPECT_FALSE(simulation.curves.front().points.back().coverage);
}

}  // namespace simulate_test
}  // namespace ecotone::test
