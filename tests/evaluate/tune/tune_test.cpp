#include "ecotone/evaluate/tune/tune.h"

#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/metric_of_choice.h"
#include "ecotone/methods/grid.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace tune_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tuning tuned(const Dataset& data, const std::string& grid, const Context& context, TuneOptions options = {}) {
  return tune(data, search_points({grid}, options, context), options, context);
}

/// That every point has the scores that single fits have, up to the accuracy of the solvers.
void expect_as_single_fits(const Dataset& data, const std::string& grid, const std::string& metric) {
  SCOPED_TRACE(grid);
  const Tuning tuning = tuned(data, grid, on(2), {.metric = metric});
  const Evaluation single = evaluate(data, expand_grid(grid), with(Protocol::leave_one_domain_out), on(2));
  ASSERT_EQ(tuning.points.size(), single.pipelines.size());
  for (std::size_t p = 0; p < tuning.points.size(); ++p) {
    EXPECT_EQ(tuning.points[p].pipeline, single.pipelines[p].pipeline);
    EXPECT_NEAR(tuning.points[p].mean.value(), get(single.pipelines[p].mean, metric).value(), 1e-7);
    EXPECT_NEAR(tuning.points[p].spread.value(), get(single.pipelines[p].spread, metric).value(), 1e-7);
    for (std::size_t d = 0; d < single.pipelines[p].domains.size(); ++d)
      EXPECT_NEAR(tuning.points[p].folds[d].value(), get(single.pipelines[p].domains[d].metrics, metric).value(), 1e-7);
  }
}

TEST(Tune, SharedWorkGivesTheScoresOfSingleFits) {
  expect_as_single_fits(tiny(4, 40), "impute strategy={mean,median} | scale | logistic l2={0.001,0.1,1,0.01} tol=1e-10",
                        "log_loss");
  expect_as_single_fits(
      tiny(3, 40), "impute indicator={true,false} | scale | logistic l1={0.01,0.001} l2={0.1,0} tol=1e-10", "log_loss");
  expect_as_single_fits(tiny(3, 60, 3), "scale | logistic l2={0.001,0.1} multiclass={softmax,ova,ovo} tol=1e-10",
                        "log_loss");
  expect_as_single_fits(tiny(3, 60, 3), "scale | svm C={0.1,10,1} tolerance=1e-9", "log_loss");
  expect_as_single_fits(tiny(3, 60), "scale | logistic l2={0.001,0.1} tol=1e-10 | calibrate", "log_loss");
  expect_as_single_fits(tiny_regression(3, 30), "scale | least_squares l2={0,0.1,1}", "rmse");
}

TEST(Tune, ChoosesByAProperScore) {
  EXPECT_EQ(tuned(tiny(3, 20), "logistic l2={0.1,1}", on(1)).metric, "log_loss");
  EXPECT_EQ(tuned(tiny_regression(3, 20), "least_squares l2={0.1,1}", on(1)).metric, "rmse");
  const Tuning tuning = tuned(tiny(3, 20), "logistic l2={0.1,1}", on(1));
  EXPECT_EQ(get(tuning.points[0].metrics, "log_loss"), tuning.points[0].mean);
  EXPECT_TRUE(get(tuning.points[0].metrics, "auroc"));
}

TEST(Tune, ChoosesByRanksWhereThereAreNoProbabilities) {
  const auto metric = [](const std::string& grid, Index classes = 2) {
    return tuned(tiny(3, 30, classes), grid, on(1)).metric;
  };
  EXPECT_EQ(metric("svm C={1,10}"), "auroc");
  EXPECT_EQ(metric("svm C={1,10}", 3), "accuracy");
  EXPECT_EQ(metric("svm C={1,10} probability=true"), "log_loss");
  EXPECT_EQ(metric("svm C={1,10} | calibrate"), "log_loss");
  EXPECT_EQ(metric("svm probability={false,true}"), "auroc");
  EXPECT_EQ(metric("adaboost rounds={2,5}"), "auroc");
  EXPECT_EQ(tuned(tiny_regression(3, 20), "svm C={1,10}", on(1)).metric, "rmse");
  EXPECT_EQ(tuned(tiny(3, 30), "svm C={1,10}", on(1), {.metric = "log_loss"}).metric, "log_loss");
  Recorder recorder;
  tuned(tiny(3, 30), "svm C={1,10}", Context({.threads = 1, .observer = &recorder}));
  EXPECT_THAT(recorder.notes, ElementsAre("tune: svm gives no probabilities of its own, so auroc chooses; "
                                          "probability=true or --metric log_loss changes that"));
  // Domains with one class each cannot be ranked.
  Dataset data = tiny(4, 20);
  for (std::size_t i = 0; i < data.y->index.size(); ++i) data.y->index[i] = data.domain.index[i] % 2;
  EXPECT_EQ(tuned(data, "svm C={1,10}", on(1)).metric, "accuracy");
}

/// Scores of these are fitted to -1 and 1 by squared error and estimate 2 p - 1; the link leaves little of that out.
const std::vector<std::string> by_squared_error = {"ridge", "tgreedy", "greedy", "step", "icp"};

TEST(Tune, KnowsTheMethodsWithoutProbabilities) {
  Dataset data = tiny(3, 40);
  data.role[2] = Role::target;
  for (const Method& method : methods()) {
    if (!method.can_predict() || method.regression_only() || method.follows_learner()) continue;
    SCOPED_TRACE(method.name);
    const Pipeline pipeline = Pipeline::parse(method.name);
    const Model model = Model::fit(pipeline, train_view(data, on(1)), data.schema, on(1));
    const Prediction found = model.predict(batch(data, data.domain.rows_of(2)), on(1));
    bool convention = found.score.cols() == 1;
    for (Index i = 0; convention && i < found.score.rows(); ++i)
      convention = std::abs(found.probability(i, 1) - 1 / (1 + std::exp(-2 * found.score(i, 0)))) < 1e-12;
    const bool squared = std::ranges::find(by_squared_error, method.name) != by_squared_error.end();
    EXPECT_EQ(without_probabilities(pipeline) != nullptr, convention && !squared);
  }
}

TEST(Tune, ChoosesTheBestMeanAndComparesWithIt) {
  const Dataset data = tiny(4, 60);
  const Tuning tuning = tuned(data, "scale | logistic l2={100,0.01}", on(2), {.metric = "log_loss"});
  EXPECT_EQ(tuning.chosen, 1U);
  EXPECT_THAT(tuning.folds, ElementsAre("site0", "site1", "site2", "site3"));
  EXPECT_TRUE(tuning.by_domain);
  EXPECT_EQ(tuning.points[1].difference, 0);
  EXPECT_EQ(tuning.points[1].difference_se, 0);
  EXPECT_GT(tuning.points[0].difference.value(), 0.05);  // a larger loss
  double mean = 0;
  const auto value = [&](std::size_t p, std::size_t f) {
    return std::min(*tuning.points[p].folds[f], *tuning.bound[f]);
  };
  for (std::size_t f = 0; f < 4; ++f) mean += (value(0, f) - value(1, f)) / 4;
  EXPECT_NEAR(tuning.points[0].difference.value(), mean, 1e-12);
  // Equal points: the first.
  EXPECT_EQ(tuned(data, "impute strategy={mean,median} | constant", on(1)).chosen, 0U);
  // Where larger is better.
  EXPECT_EQ(tuned(data, "scale | logistic l2={0.01,100}", on(2), {.metric = "accuracy"}).metric, "accuracy");
}

TEST(Tune, TargetsAreNeverScoredAndTheirLabelsNeverSeen) {
  Dataset data = tiny(4, 40);
  set_targets(data, {"site2"});
  const std::string grid = "scale | weight.logistic flatten={auto,none} | logistic l2={0.1,0.01}";
  const Tuning tuning = tuned(data, grid, on(2));
  EXPECT_THAT(tuning.folds, ElementsAre("site0", "site1", "site3"));
  // Neither other labels of the target change anything, nor other features: held-out domains play the target.
  for (const Index row : data.domain.rows_of(2)) data.y->index[static_cast<std::size_t>(row)] = 0;
  EXPECT_EQ(to_json(tuned(data, grid, on(2))), to_json(tuning));
  Matrix x = data.x.to_matrix();
  for (const Index row : data.domain.rows_of(2)) x.row(row).array() += 1;
  data.x = Features::dense(std::move(x), {"a", "b"});
  EXPECT_EQ(to_json(tuned(data, grid, on(2))), to_json(tuning));
}

/// The rows of the first `domains` domains.
Dataset first_domains(const Dataset& data, Index domains) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i)
    if (data.domain.index[static_cast<std::size_t>(i)] < domains) rows.push_back(i);
  Dataset part = data;
  part.x = data.x.take(rows);
  part.y = data.y->take(rows);
  part.domain = data.domain.take(rows);
  part.role.resize(part.domain.names.size());
  return part;
}

TEST(Tune, HeldOutDomainsPlayTheTargetForPipelinesThatAdapt) {
  Dataset data = tiny(4, 60);
  const std::string plain = "scale | logistic l2=0.1";
  const std::string weighted = "scale | weight.logistic flatten=none | logistic l2=0.1";
  const std::string joint = "scale | adapt.joint l2=0.1";
  const auto points = pipelines({plain, weighted, joint});
  set_targets(data, {"site3"});
  Recorder recorder;
  const Context context({.threads = 2, .seed = 0, .observer = &recorder});
  const Tuning tuning = tune(data, points, {.metric = "log_loss"}, context);
  EXPECT_THAT(recorder.notes,
              ElementsAre(HasSubstr("the held-out domain serves as the target; rows of the real target are left")));
  // The adapted ones have the scores of the protocol adapt on the sources alone, the plain one those of its own.
  const Dataset sources = first_domains(data, 3);
  const Evaluation adapted = evaluate(sources, points, with(Protocol::adapt), on(2));
  const Evaluation unseen = evaluate(sources, pipelines({plain}), with(Protocol::leave_one_domain_out), on(2));
  for (std::size_t p = 0; p < 3; ++p)
    EXPECT_NEAR(tuning.points[p].mean.value(), get((p == 0 ? unseen : adapted).pipelines[p].mean, "log_loss").value(),
                1e-7)
        << points[p].text();
  EXPECT_GT(std::abs(*tuning.points[1].mean - *tuning.points[0].mean), 1e-4);
  // So no target is needed.
  const Tuning without = tune(sources, points, {.metric = "log_loss"}, on(2));
  for (std::size_t p = 0; p < 3; ++p) EXPECT_NEAR(*without.points[p].mean, *tuning.points[p].mean, 1e-7);
}

TEST(Tune, OnePipelineLeavesNothingToChoose) {
  const std::string table = tuning_table(tuned(tiny(3, 20), "constant", on(1)));
  EXPECT_THAT(table, HasSubstr(" of 1 pipeline, "));
  EXPECT_THAT(table, HasSubstr("nothing to choose between"));
  EXPECT_THAT(table, ::testing::Not(HasSubstr("\nchosen ")));
}

TEST(Tune, FoldsOfRowsWhereThereIsOneDomain) {
  Recorder recorder;
  const Context context({.threads = 2, .seed = 0, .observer = &recorder});
  const Tuning tuning = tuned(tiny(1, 60), "scale | logistic l2={0.1,0.01}", context);
  EXPECT_FALSE(tuning.by_domain);
  EXPECT_THAT(tuning.folds, ElementsAre("fold 1", "fold 2", "fold 3", "fold 4", "fold 5"));
  EXPECT_TRUE(tuning.points[0].spread.has_value());
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_THAT(recorder.warnings[0], HasSubstr("folds_of_rows: tune: there is one source domain"));
}

TEST(Tune, IsTheSameBytesForAnyNumberOfThreads) {
  const Dataset data = tiny(5, 50);
  const auto run = [&](int threads) {
    return to_json(tuned(data, "impute | scale | logistic l2={1,0.1,0.01} l1={0,0.01}", on(threads))).dump();
  };
  EXPECT_EQ(run(1), run(2));
  EXPECT_EQ(run(1), run(7));
}

TEST(Tune, APointThatCannotBeFittedIsLeftOut) {
  Dataset data = tiny(3, 20);
  Matrix x = data.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i) x(i, 0) = data.y->index[static_cast<std::size_t>(i)];
  data.x = Features::dense(std::move(x), {"a", "b"});
  // Without a penalty separable classes have no optimum.
  const Tuning tuning = tuned(data, "logistic l2={0,0.1}", on(2));
  EXPECT_EQ(tuning.chosen, 1U);
  EXPECT_EQ(tuning.points[0].error_code, "separable");
  EXPECT_THAT(tuning.points[0].error, HasSubstr("with site0 held out: logistic"));
  EXPECT_FALSE(tuning.points[0].mean.has_value());
  EXPECT_THAT(tuning_table(tuning), HasSubstr("failed with site0 held out"));
  EXPECT_EQ(to_json(tuning)["points"][0]["error"]["code"], "separable");
  EXPECT_EQ(error_of([&] { tuned(data, "logistic l2={0}", on(2)); }).code(), "separable");
}

TEST(Tune, RandomSearchDrawsEachPointOnce) {
  const TuneOptions options{.search = Search::random, .draws = 30, .metric = ""};
  const auto points = search_points({"logistic l2={1e-9..1}", "constant", "logistic norm={sum,count}"}, options, on(1));
  ASSERT_EQ(points.size(), 33U);  // 30, one, and the two that there are
  EXPECT_EQ(points[30].text(), "constant");
  const auto text = [&](std::uint64_t seed) {
    return search_points({"logistic l2={1e-9..1}"}, options, on(1, seed))[0].text();
  };
  EXPECT_EQ(text(0), points[0].text());
  EXPECT_NE(text(1), points[0].text());
  EXPECT_EQ(error_of([&] { search_points({"logistic l2={1e-3..1}"}, {}, on(1)); }).code(), "range_in_grid");
  EXPECT_EQ(error_of([&] { search_points({"scale"}, {}, on(1)); }).code(), "no_learner");
}

TEST(Tune, RefusesWhatItCannotScore) {
  EXPECT_EQ(error_of([] { tuned(tiny(3, 20), "constant", on(1), {.metric = "rmse"}); }).code(), "unknown_metric");
  Dataset data = tiny(3, 20);
  data.y.reset();
  EXPECT_EQ(error_of([&] { tuned(data, "constant", on(1)); }).code(), "no_labels");
  data = tiny(1, 1);
  EXPECT_EQ(error_of([&] { tuned(data, "constant", on(1)); }).code(), "no_folds");
  EXPECT_EQ(error_of([&] { tune(data, {}, {}, on(1)); }).code(), "no_pipeline");
}

/// A cache in order reuses what pipelines begin with alike, and nothing else.
TEST(Tune, FitsStagesOnceThatNeighboursShare) {
  const Dataset data = tiny(3, 30);
  const TrainView view = train_view(data, on(1));
  FitCache cache(FitCache::Order::in_order);
  const auto fitted = [&](const std::string& text) {
    return Model::fit(Pipeline::parse(text), view, data.schema, on(1), cache);
  };
  const std::string first = fitted("impute | scale | logistic l2=0.1").bytes();
  EXPECT_EQ(fitted("impute strategy=median | scale | constant").bytes(),
            Model::fit(Pipeline::parse("impute strategy=median | scale | constant"), view, data.schema, on(1)).bytes());
  EXPECT_EQ(fitted("scale").bytes(), Model::fit(Pipeline::parse("scale"), view, data.schema, on(1)).bytes());
  EXPECT_EQ(fitted("constant").bytes(), Model::fit(Pipeline::parse("constant"), view, data.schema, on(1)).bytes());
  // Stochastic steps end where they end because of where they start, so they do not start elsewhere.
  const std::string sgd = "scale | logistic solver=sgd l2=0.1 epochs=2";
  EXPECT_EQ(fitted(sgd).bytes(), Model::fit(Pipeline::parse(sgd), view, data.schema, on(1)).bytes());
  EXPECT_EQ(first, Model::fit(Pipeline::parse("impute | scale | logistic l2=0.1"), view, data.schema, on(1)).bytes());
}

}  // namespace tune_test
}  // namespace ecotone::test
