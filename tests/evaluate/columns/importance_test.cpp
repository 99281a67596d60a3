#include "ecotone/evaluate/columns/importance.h"

#include <gtest/gtest.h>

#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/known_site.h"
#include "ecotone/evaluate/probability_check.h"
#include "ecotone/evaluate/whole_model.h"

namespace ecotone::test {
namespace importance_test {

/// Three domains of 100 rows; the label is whether the first column is positive, the second is noise, the third
/// constant.
Dataset signs(Task task) {
  Random random(5, "signs");
  const Index rows = 300;
  Matrix x(rows, 3);
  Dataset data;
  data.y.emplace();
  data.y->task = task;
  if (task == Task::classify) data.y->classes = {"no", "yes"};
  data.y->value = Vector::Zero(task == Task::regress ? rows : 0);
  data.domain.names = {"a", "b", "c"};
  for (Index i = 0; i < rows; ++i) {
    x(i, 0) = random.normal();
    x(i, 1) = random.normal();
    x(i, 2) = 1;
    if (task == Task::classify) {
      data.y->index.push_back(x(i, 0) + 0.3 * random.normal() > 0 ? 1 : 0);
    } else {
      data.y->value[i] = 3 * x(i, 0);
    }
    data.domain.index.push_back(static_cast<std::int32_t>(i % 3));
  }
  data.x = Features::dense(std::move(x), {"signal", "noise", "constant"});
  data.role.assign(3, Role::source);
  return data;
}

TEST(Importance, WhatTheLabelDependsOnMatters) {
  const Context context;
  for (const Task task : {Task::classify, Task::regress}) {
    const Dataset data = signs(task);
    EvaluateOptions options;
    options.importance = 1000;
    options.resamples = 0;
    const Pipeline pipeline = Pipeline::parse(task == Task::classify ? "scale | logistic l2=0.01" : "least_squares");
    const Evaluation evaluation = evaluate(data, {pipeline}, options, context);
    const auto& importance = evaluation.pipelines.front().importance;
    ASSERT_TRUE(importance);
    EXPECT_EQ(importance->metric, task == Task::classify ? "auroc" : "rmse");
    EXPECT_EQ(importance->splits, data.domain.names);
    ASSERT_EQ(importance->columns.size(), 3U);
    EXPECT_EQ(importance->columns[0].column, "signal");
    // A shuffled signal is worth nothing: half of the AUROC is lost, and the error is sqrt(2) x 3.
    EXPECT_NEAR(*importance->columns[0].mean, task == Task::classify ? 0.47 : 4.2, 0.5);
    for (std::size_t c : {1U, 2U}) EXPECT_NEAR(*importance->columns[c].mean, 0, 0.02);
    EXPECT_EQ(importance->columns[0].splits.size(), 3U);
  }
}

TEST(WholeModel, HasWeightsHistoryAndRegions) {
  const Context context;
  Dataset data = signs(Task::classify);
  const WholeModel linear = whole_model(data, Pipeline::parse("logistic l2=0.01"), context);
  ASSERT_EQ(linear.effects.size(), 3U);
  EXPECT_EQ(linear.effects[0].feature, "signal");
  EXPECT_GT(linear.effects[0].per_deviation, 1);
  EXPECT_EQ(linear.effects[2].feature, "constant");
  EXPECT_EQ(linear.effects[2].per_deviation, 0);
  EXPECT_TRUE(linear.history.empty());
  EXPECT_FALSE(linear.regions);
  const WholeModel chosen = whole_model(data, Pipeline::parse("tgreedy steps=1"), context);
  ASSERT_EQ(chosen.effects.size(), 1U);
  EXPECT_EQ(chosen.effects[0].feature, "signal");
  const WholeModel boosted = whole_model(data, Pipeline::parse("adaboost rounds=7"), context);
  ASSERT_FALSE(boosted.history.empty());
  EXPECT_EQ(boosted.history[0].values.size(), 7U);
  const std::vector<Index> two = {0, 1};
  data.x = data.x.columns(two, {"signal", "noise"}, context);
  const WholeModel plane = whole_model(data, Pipeline::parse("logistic l2=0.01"), context);
  ASSERT_TRUE(plane.regions);
  const auto& cells = plane.regions->cells;
  // The signal is on the horizontal axis: small means no, large means yes.
  EXPECT_EQ(cells[cells.size() / 2].front(), 0);
  EXPECT_EQ(cells[cells.size() / 2].back(), 1);
  EXPECT_EQ(plane.regions->x.size(), 300U);
}

TEST(Importance, IsNotMeasuredUnasked) {
  const Context context;
  EvaluateOptions options;
  options.resamples = 0;
  const Evaluation evaluation =
      evaluate(signs(Task::classify), {Pipeline::parse("logistic l2=0.01")}, options, context);
  EXPECT_FALSE(evaluation.pipelines.front().importance);
  EXPECT_FALSE(evaluation.pipelines.front().curves);
  EXPECT_FALSE(evaluation.pipelines.front().known);
}

/// A domain where the others' share of the second class is off: guessing it costs the cross entropy.
TEST(ProbabilityCheck, GuessesTheSharesOfTheOthers) {
  PipelineScore score;
  score.domains = {{.domain = "a", .rows = 100, .metrics = {{"log_loss", 0.5}}, .prevalence = {0.5, 0.5}},
                   {.domain = "b", .rows = 300, .metrics = {{"log_loss", 0.9}}, .prevalence = {0.8, 0.2}},
                   {.domain = "c", .rows = 0, .metrics = {{"log_loss", std::nullopt}}, .prevalence = {}}};
  const auto check = check_probabilities(score);
  ASSERT_TRUE(check);
  ASSERT_EQ(check->domains.size(), 2U);
  EXPECT_NEAR(check->domains[0].guessing, -0.5 * std::log(0.8) - 0.5 * std::log(0.2), 1e-12);
  EXPECT_NEAR(check->domains[1].guessing, -std::log(0.5), 1e-12);
  EXPECT_FALSE(check->domains[0].worse());
  ASSERT_EQ(check->failing().size(), 1U);
  EXPECT_EQ(check->failing()[0].domain, "b");
  EXPECT_NEAR(check->loss, 0.7, 1e-12);
  score.domains.resize(1);
  EXPECT_FALSE(check_probabilities(score));
}

}  // namespace importance_test
}  // namespace ecotone::test
