// The choice of a grid inside every split.
#include "ecotone/data/generate/generate.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/methods/model.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace nested_test {

using ::testing::HasSubstr;

std::vector<PipelineGrid> grids(const std::vector<std::string>& texts) {
  std::vector<PipelineGrid> result;
  for (const std::string& text : texts) result.push_back(PipelineGrid::parse(text));
  return result;
}

/// What a user would do by hand: tune without the labels (and, unless they are the target, the rows) of a domain, fit
/// the choice, and score it there.
void expect_outer_loop(const Dataset& data, const std::string& grid, Protocol protocol) {
  SCOPED_TRACE(grid);
  const Context context = on(2, 3);
  const Evaluation nested = evaluate_grids(data, grids({"constant", grid}), with(protocol), context);
  const PipelineScore& score = nested.pipelines[1];
  EXPECT_EQ(score.pipeline, grid);
  ASSERT_EQ(score.chosen.size(), data.domain.names.size());
  for (std::size_t d = 0; d < data.domain.names.size(); ++d) {
    Dataset rest = data;
    rest.role[d] = protocol == Protocol::adapt ? Role::target : Role::unseen;
    const auto points = search_points({grid}, {}, context);
    const Tuning tuning = tune(rest, points, {}, context);
    EXPECT_EQ(score.chosen[d].held_out, data.domain.names[d]);
    EXPECT_EQ(score.chosen[d].pipeline, points[tuning.chosen].text());
    EXPECT_EQ(score.chosen[d].mean, tuning.points[tuning.chosen].mean);
    const Model model = Model::fit(points[tuning.chosen], train_view(rest, context), data.schema, context);
    Split split;
    split.held_out = data.domain.rows_of(static_cast<Index>(d));
    const Prediction answer = model.predict(batch(data, split.held_out), context);
    const Outcome outcome = outcome_of(answer, model.classes(), *data.y, split);
    std::vector<bool> held(data.domain.names.size(), false);
    held[d] = true;
    EXPECT_EQ(score_domains(data, held, {outcome}, {}, context).front().metrics, score.domains[d].metrics);
  }
}

TEST(Nested, EvaluationIsAnOuterLoopOverTuning) {
  const Dataset data = generate("clinics", {}, on(2, 1));
  expect_outer_loop(data, "impute | scale | logistic l2={0.001,0.01,0.1,1}", Protocol::leave_one_domain_out);
  const Dataset small = tiny(4, 60);
  expect_outer_loop(small, "scale | logistic l2={0.01,1} l1={0,0.01}", Protocol::adapt);
  expect_outer_loop(small, "scale | weight.gaussian flatten={auto,none} | logistic l2=0.1", Protocol::adapt);
  // Two domains leave one to train on, whose rows are dealt to folds by the same seed.
  expect_outer_loop(tiny(2, 60), "scale | logistic l2={0.01,0.1,1}", Protocol::leave_one_domain_out);
}

TEST(Nested, HeldOutLabelsCannotReachTheChoice) {
  const Dataset data = tiny(4, 40);
  const std::string grid = "scale | logistic l2={0.001,0.1,10}";
  for (const Protocol protocol : {Protocol::leave_one_domain_out, Protocol::adapt}) {
    const Evaluation before = evaluate_grids(data, grids({grid}), with(protocol), on(2));
    Dataset noisy = data;
    for (const Index row : data.domain.rows_of(2))
      noisy.y->index[static_cast<std::size_t>(row)] = 1 - data.y->index[static_cast<std::size_t>(row)];
    const Evaluation after = evaluate_grids(noisy, grids({grid}), with(protocol), on(2));
    EXPECT_EQ(after.pipelines[0].chosen[2].pipeline, before.pipelines[0].chosen[2].pipeline);
    EXPECT_EQ(after.pipelines[0].chosen[2].mean, before.pipelines[0].chosen[2].mean);
    EXPECT_NE(after.pipelines[0].chosen[1].mean, before.pipelines[0].chosen[1].mean);
  }
}

TEST(Nested, EveryProtocolTakesGridsAndGivesTheSameBytesForAnyNumberOfThreads) {
  const Dataset data = tiny(3, 40);
  for (const Protocol protocol :
       {Protocol::leave_one_domain_out, Protocol::adapt, Protocol::domain_split, Protocol::k_fold}) {
    EvaluateOptions options = with(protocol);
    options.repetitions = 3;
    const auto run = [&](int threads) {
      return to_json(evaluate_grids(data, grids({"constant", "logistic l2={0.01,1}"}), options, on(threads))).dump();
    };
    const std::string one = run(1);
    EXPECT_THAT(one, HasSubstr("\"chosen\":[{"));
    EXPECT_EQ(run(2), one);
    EXPECT_EQ(run(7), one);
  }
}

TEST(Nested, OnePointIsThePipelineItself) {
  const PipelineGrid grid = PipelineGrid::parse("scale  |  logistic l2={1,1.0}");
  EXPECT_EQ(grid.text, "scale | logistic l2=1");
  ASSERT_EQ(grid.points.size(), 1U);
  const Dataset data = tiny(3, 20);
  const Evaluation one = evaluate_grids(data, {grid}, with(Protocol::leave_one_domain_out), on(1));
  EXPECT_EQ(one.choice_metric, "");
  EXPECT_TRUE(one.pipelines[0].chosen.empty());
  EXPECT_EQ(to_json(one), to_json(evaluate(data, grid.points, with(Protocol::leave_one_domain_out), on(1))));
}

TEST(Nested, EveryGridHasTheMetricThatSuitsIt) {
  const Dataset data = tiny(3, 30);
  Recorder recorder;
  const Context context({.threads = 1, .observer = &recorder});
  const auto run = [&](const std::vector<std::string>& texts, EvaluateOptions options = {}) {
    recorder.notes.clear();
    return evaluate_grids(data, grids(texts), options, context);
  };
  const Evaluation mixed = run({"svm C={1,10}", "logistic l2={0.1,1}", "constant", "svm sigma={1,2}"});
  EXPECT_EQ(mixed.choice_metric, "");
  EXPECT_EQ(mixed.pipelines[0].choice_metric, "auroc");
  EXPECT_EQ(mixed.pipelines[1].choice_metric, "log_loss");
  EXPECT_EQ(mixed.pipelines[2].choice_metric, "");
  EXPECT_THAT(recorder.notes, ::testing::ElementsAre(HasSubstr("evaluate: svm gives no probabilities of its own")));
  EXPECT_EQ(to_json(mixed)["pipelines"][0]["choice_metric"], "auroc");
  EXPECT_THAT(evaluation_table(mixed), HasSubstr("svm C=10, by AUROC: 3 of 3"));
  EXPECT_EQ(run({"svm C={1,10}"}).choice_metric, "auroc");
  EXPECT_EQ(run({"svm C=1"}).choice_metric, "");
  EXPECT_THAT(recorder.notes, ::testing::IsEmpty());
  EvaluateOptions asked;
  asked.choice_metric = "log_loss";
  EXPECT_EQ(run({"svm C={1,10}", "logistic l2={0.1,1}"}, asked).choice_metric, "log_loss");
}

TEST(Nested, GroupsInAllDomainsLeaveFoldsOfGroups) {
  // Each group has rows in all domains and labels of one class.
  Dataset data = tiny(3, 40);
  for (std::size_t i = 0; i < data.y->index.size(); ++i) {
    data.group.push_back(static_cast<std::int32_t>(i / 6));
    data.y->index[i] = static_cast<std::int32_t>(i / 6 % 2);
  }
  Recorder recorder;
  const Context context({.threads = 1, .observer = &recorder});
  const Evaluation found = evaluate_grids(data, grids({"logistic l2={0.01,1}"}), with(Protocol::k_fold), context);
  EXPECT_FALSE(found.pipelines[0].error);
  EXPECT_THAT(recorder.notes, ::testing::ElementsAre(HasSubstr("5 folds of whole groups are held out instead")));
}

TEST(Nested, AGridThatCannotBeFittedAnywhereFails) {
  Dataset data = tiny(3, 20);
  for (const Index row : data.domain.rows_of(0)) data.y->index[static_cast<std::size_t>(row)] = 1;
  for (const Index row : data.domain.rows_of(1)) data.y->index[static_cast<std::size_t>(row)] = 1;
  const Evaluation result =
      evaluate_grids(data, grids({"constant", "logistic l2={1,2}"}), with(Protocol::leave_one_domain_out), on(2));
  ASSERT_TRUE(result.pipelines[1].error);
  EXPECT_EQ(result.pipelines[1].error->code(), "one_class");
  EXPECT_THAT(result.pipelines[1].error->what(), ::testing::StartsWith("\"logistic l2={1,2}\" with "));
  EvaluateOptions options = with(Protocol::leave_one_domain_out);
  options.choice_metric = "rmse";
  EXPECT_EQ(error_of([&] { evaluate_grids(data, grids({"logistic l2={1,2}"}), options, on(1)); }).code(),
            "unknown_metric");
}

}  // namespace nested_test
}  // namespace ecotone::test
