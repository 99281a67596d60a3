#include "ecotone/methods/learn/conformal/conformal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "ecotone/data/categories.h"
#include "ecotone/methods/model.h"
#include "ecotone/trust/expect.h"
#include "methods/hospital_draws.h"
#include "methods/support.h"

namespace ecotone::test {
namespace conformal_stage_test {

using testing::HasSubstr;
using testing::Not;

struct Split {
  TrainView view;
  Batch fresh;
  std::vector<Index> rows;
};

/// The first domains to learn from, the others to predict.
Split split(const Dataset& data, Index sources, Index target = -1) {
  const auto train = rows_of_domains(data, 0, sources);
  const auto adapted = target < 0 ? std::vector<Index>{} : rows_of_domains(data, target, target + 1);
  Split result;
  result.rows = rows_of_domains(data, sources, data.domain.count());
  result.view = train_view(data, train, adapted, context());
  result.fresh = batch(data, result.rows);
  return result;
}

Model fitted(const std::string& pipeline, const Dataset& data, const TrainView& view, const Context& own = context()) {
  return Model::fit(Pipeline::parse(pipeline), view, data.schema, own);
}

double covered(const Prediction& prediction, const Dataset& data, const std::vector<Index>& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<Index>(i);
    if (prediction.task == Task::classify)
      sum += prediction.set(row, data.y->index[at(rows[i])]);
    else
      sum += prediction.low[row] <= data.y->value[rows[i]] && data.y->value[rows[i]] <= prediction.high[row];
  }
  return sum / static_cast<double>(rows.size());
}

const Json& stage(const Json& inspected) { return inspected.at("stages").back(); }

TEST(ConformalStage, QuantileIsThatOfModelsWithoutEachDomain) {
  const Dataset data = drawn_domains(12, 25, Drawn::relation, 0.7, 4);
  const Split all = split(data, 12);
  const Model model = fitted("scale | logistic l2=0.1 | conformal", data, all.view);
  ScoredDomains domains;
  for (Index d = 0; d < 12; ++d) {
    std::vector<Index> others;
    for (Index i = 0; i < data.rows(); ++i)
      if (data.domain.index[at(i)] != d) others.push_back(i);
    const Model without = fitted("scale | logistic l2=0.1", data, train_view(data, others, {}, context()));
    const std::vector<Index> own = data.domain.rows_of(d);
    const Prediction p = without.predict(batch(data, own), context());
    domains.emplace_back();
    for (std::size_t i = 0; i < own.size(); ++i)
      domains.back().score.push_back(1 - p.probability(static_cast<Index>(i), data.y->index[at(own[i])]));
  }
  const Json found = model.inspect();
  EXPECT_EQ(stage(found)["method"], "hcp");
  EXPECT_NEAR(stage(found)["quantile"].get<double>(), hcp_quantile(domains, 0.1), 1e-9);
  EXPECT_EQ(stage(found)["guarantee"], "average over new domains");
  EXPECT_THAT(stage(found)["promise"].get<std::string>(),
              HasSubstr("90% of rows of a new domain, on average over new domains that differ as these 12 do"));
  for (std::size_t d = 0; d < 12; ++d) {
    ScoredDomains others = domains;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(d));
    EXPECT_NEAR(stage(found)["coverage_by_domain"]["d" + std::to_string(d)].get<double>(),
                coverage(domains[d], hcp_quantile(others, 0.1)), 1e-9);
  }
}

TEST(ConformalStage, PredictionsAreThoseOfTheLearner) {
  const Dataset data = drawn_domains(11, 20, Drawn::relation, 0.7, 5);
  const Split parts = split(data, 10);
  const Prediction plain = fitted("scale | logistic l2=0.1", data, parts.view).predict(parts.fresh, context());
  const Prediction sets =
      fitted("scale | logistic l2=0.1 | conformal", data, parts.view).predict(parts.fresh, context());
  EXPECT_EQ(plain.probability, sets.probability);
  EXPECT_EQ(plain.index, sets.index);
  EXPECT_EQ(sets.set.rows(), parts.fresh.x.rows());
}

TEST(ConformalStage, CoversNewDomainsOnAverage) {
  const Dataset data = drawn_domains(80, 40, Drawn::relation, 0.8, 6);
  const Split parts = split(data, 20);
  for (const std::string method : {"hcp", "jackknife", "domainwise"}) {
    const Model model = fitted("scale | logistic l2=0.1 | conformal method=" + method, data, parts.view);
    EXPECT_GT(covered(model.predict(parts.fresh, context()), data, parts.rows), 0.88) << method;
  }
  const Dataset numbers = drawn_numbers(80, 30, 1.5, 7);
  const Split of_numbers = split(numbers, 20);
  for (const std::string method : {"hcp", "jackknife"}) {
    const Model model = fitted("scale | ridge | conformal method=" + method, numbers, of_numbers.view);
    const Prediction p = model.predict(of_numbers.fresh, context());
    const double share = covered(p, numbers, of_numbers.rows);
    EXPECT_GT(share, 0.87) << method;
    EXPECT_LT(share, 0.99) << method;
    EXPECT_TRUE(((p.low.array() < p.value.array()) && (p.value.array() < p.high.array())).all());
  }
}

TEST(ConformalStage, FewDomainsPromiseNothingAndSaySo) {
  const Dataset data = drawn_domains(5, 30, Drawn::relation, 0.5, 8);
  const Split parts = split(data, 4);
  Recorder recorder;
  const Context own = context().observed_by(&recorder);
  const Json found = fitted("logistic l2=0.1 | conformal", data, parts.view, own).inspect();
  EXPECT_EQ(stage(found)["method"], "cdf");
  EXPECT_EQ(stage(found)["guarantee"], "none");
  EXPECT_NEAR(stage(found)["largest_level"].get<double>(), 0.8, 1e-12);
  ASSERT_FALSE(recorder.warnings.empty());
  EXPECT_EQ(recorder.warnings[0].first, "no_guarantee");
  EXPECT_THAT(recorder.warnings[0].second, HasSubstr("9 are enough"));
  // At 80% four domains are enough.
  EXPECT_EQ(stage(fitted("logistic l2=0.1 | conformal level=0.8", data, parts.view).inspect())["method"], "hcp");
}

TEST(ConformalStage, AnInfiniteQuantileIsEverythingWithAWarning) {
  const Dataset data = drawn_domains(5, 30, Drawn::relation, 0.5, 9);
  const Split parts = split(data, 4);
  Recorder recorder;
  const Model model =
      fitted("logistic l2=0.1 | conformal method=hcp", data, parts.view, context().observed_by(&recorder));
  EXPECT_EQ(recorder.warnings.at(0).first, "infinite_sets");
  EXPECT_TRUE(model.predict(parts.fresh, context()).set.all());
  EXPECT_EQ(stage(model.inspect())["quantile"], "inf");
  const Dataset numbers = drawn_numbers(5, 20, 1, 9);
  const Split of_numbers = split(numbers, 4);
  const Prediction p =
      fitted("ridge | conformal method=hcp", numbers, of_numbers.view).predict(of_numbers.fresh, context());
  EXPECT_TRUE((p.high.array() == HUGE_VAL).all());
  EXPECT_TRUE((p.low.array() == -HUGE_VAL).all());
}

TEST(ConformalStage, ThePromiseSaysThatSetsHoldEverything) {
  const Dataset data = drawn_domains(5, 30, Drawn::relation, 0.5, 9);
  const Split parts = split(data, 4);
  for (const std::string method : {"hcp", "jackknife", "domainwise"}) {
    const Model model = fitted("logistic l2=0.1 | conformal method=" + method, data, parts.view);
    const std::string promise = stage(model.inspect())["promise"];
    EXPECT_THAT(promise, HasSubstr("Sets hold everything: 4 domains can promise at most 80%")) << method;
    EXPECT_THAT(promise, HasSubstr("useful sets up to 60%")) << method;
    // Fitting has warned; a model from a file warns once when it predicts.
    Recorder fresh, again;
    EXPECT_TRUE(model.predict(parts.fresh, context().observed_by(&fresh)).set.all());
    EXPECT_TRUE(fresh.warnings.empty());
    EXPECT_TRUE(reloaded(model).predict(parts.fresh, context().observed_by(&again)).set.all());
    ASSERT_EQ(again.warnings.size(), 1U) << method;
    EXPECT_EQ(again.warnings[0].first, "infinite_sets");
    EXPECT_THAT(again.warnings[0].second, HasSubstr("sets hold everything; 4 domains can promise at most 80%"));
  }
  const Model enough = fitted("logistic l2=0.1 | conformal method=hcp level=0.8", data, parts.view);
  const std::string promise = stage(enough.inspect())["promise"];
  EXPECT_THAT(promise, Not(HasSubstr("Sets hold everything")));
  EXPECT_THAT(promise, HasSubstr("With 3 domains sets would hold everything, so coverage by domain"));
  Recorder quiet;
  reloaded(enough).predict(parts.fresh, context().observed_by(&quiet));
  EXPECT_TRUE(quiet.warnings.empty());
}

TEST(ConformalStage, ThePromiseSaysWhereCoverageByDomainSaysNothing) {
  const Dataset data = drawn_domains(6, 30, Drawn::relation, 0.5, 9);
  const auto promise = [&](Index domains) {
    return stage(fitted("logistic l2=0.1 | conformal level=0.8", data, split(data, domains).view).inspect())["promise"]
        .get<std::string>();
  };
  EXPECT_THAT(promise(4), HasSubstr("With 3 domains sets would hold everything"));
  EXPECT_THAT(promise(5), testing::Not(HasSubstr("everything")));
}

TEST(ConformalStage, SavedAndLoadedItPredictsTheSame) {
  const Dataset data = drawn_domains(11, 30, Drawn::rows, 0.4, 10);
  const Split parts = split(data, 10, 10);
  for (const std::string method : {"hcp", "jackknife", "weighted", "domainwise", "pooled", "cdf"}) {
    const Model model = fitted("scale | logistic l2=0.1 | conformal method=" + method, data, parts.view);
    const Prediction before = model.predict(parts.fresh, context());
    const auto path = std::filesystem::temp_directory_path() / ("conformal_" + method + ".eco");
    model.save(path);
    const Prediction after = Model::load(path).predict(parts.fresh, context());
    std::filesystem::remove(path);
    EXPECT_TRUE((before.set == after.set).all()) << method;
    EXPECT_EQ(before.probability, after.probability) << method;
  }
}

TEST(ConformalStage, WeightedFallsBackWhereNothingOverlaps) {
  Dataset data = drawn_domains(11, 40, Drawn::rows, 0.2, 11);
  Matrix x = data.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i)
    if (data.domain.index[at(i)] == 10) x(i, 2) += 50;
  data.x = Features::dense(x, {"a", "b", "c"});
  const Split parts = split(data, 10, 10);
  Recorder recorder;
  const Model model =
      fitted("scale | logistic l2=0.1 | conformal method=weighted", data, parts.view, context().observed_by(&recorder));
  EXPECT_EQ(stage(model.inspect())["method"], "hcp");
  EXPECT_EQ(recorder.warnings.at(0).first, "no_overlap");
  const Split without = split(data, 10);
  EXPECT_EQ(code_of([&] { fitted("logistic l2=0.1 | conformal method=weighted", data, without.view); }), "no_target");
}

TEST(ConformalStage, WeightedReportsItsWeights) {
  const Dataset data = drawn_domains(11, 60, Drawn::rows, 0.3, 12);
  const Split parts = split(data, 10, 10);
  const Json found = fitted("scale | logistic l2=0.1 | conformal method=weighted", data, parts.view).inspect();
  EXPECT_EQ(stage(found)["guarantee"], "rows like the target's");
  EXPECT_GT(stage(found)["ess_of_weights"].get<double>(), 50);
  EXPECT_EQ(stage(found)["infinite_share"].get<double>(), 0);
}

/// r(x) n / (K N_k) with mean 1: where the target is as the sources, every domain weighs about the same.
TEST(ConformalStage, WeightedDomainsWeighTheSame) {
  const Dataset data = drawn_domains(7, 200, Drawn::relation, 0, 12);
  std::vector<Index> sources;
  for (Index d = 0; d < 6; ++d) {
    const std::vector<Index> rows = data.domain.rows_of(d);
    sources.insert(sources.end(), rows.begin(), rows.begin() + (d < 3 ? 50 : 200));
  }
  const TrainView view = train_view(data, sources, data.domain.rows_of(6), context());
  const Model model = fitted("logistic l2=0.1 | conformal method=weighted", data, view);
  ASSERT_EQ(stage(model.inspect())["method"], "weighted");
  const Vector weight = model.state(1).vector("score_weights", -1);
  ASSERT_EQ(weight.size(), 750);
  EXPECT_NEAR(weight.mean(), 1, 1e-12);
  for (const auto& [first, size] : {std::pair<Index, Index>{0, 50}, {100, 50}, {150, 200}, {550, 200}})
    EXPECT_NEAR(weight.segment(first, size).sum(), 125, 25) << first;
}

TEST(ConformalStage, RowsThatWeighTooMuchHaveSetsOfEverything) {
  const Dataset data = drawn_domains(11, 60, Drawn::rows, 0.3, 12);
  const Split parts = split(data, 10, 10);
  const Model model = fitted("scale | logistic l2=0.1 | conformal method=weighted level=0.999", data, parts.view);
  const Prediction target = model.predict(parts.fresh, context());
  const double everything = target.set.rowwise().all().cast<double>().mean();
  EXPECT_GT(everything, 0);
  EXPECT_LE(stage(model.inspect())["infinite_share"].get<double>(), everything + 1e-12);
  EXPECT_GT(stage(model.inspect())["infinite_share"].get<double>(), 0);
}

TEST(ConformalStage, WeightedCoverageTakesTheWeightOfANewRow) {
  // The four rows of the first domain count 15 times each among the scores, but a new row like them counts once: with
  // 15 at infinity, its interval would be infinite.
  const Dataset data = drawn_numbers(3, 120, 0, 18);
  std::vector<Index> sources = {0, 1, 2, 3};
  for (const Index row : rows_of_domains(data, 1, 2)) sources.push_back(row);
  const TrainView view = train_view(data, sources, rows_of_domains(data, 2, 3), context());
  const Json found = stage(fitted("scale | ridge lam=0.1 | conformal method=weighted", data, view).inspect());
  ASSERT_EQ(found["method"], "weighted");
  for (const Json& domain : found["domains_covered"]) EXPECT_TRUE(domain["size"].is_number()) << domain.dump();
}

/// Draws with a column of codes that has nothing to do with the rest.
Dataset with_code_column(Dataset data) {
  const Matrix numbers = data.x.to_matrix();
  Matrix x(numbers.rows(), 4);
  x.leftCols(3) = numbers;
  Random random(3, "codes");
  for (Index i = 0; i < x.rows(); ++i) x(i, 3) = static_cast<double>(random.below(3));
  data.x = Features::dense(std::move(x), {"a", "b", "c", "word"});
  data.schema.columns.push_back(
      {.name = "word", .kind = ColumnKind::categorical, .levels = {"p", "q", "r"}, .coded = true});
  return data;
}

TEST(ConformalStage, WeightedTakesCodesAsLevels) {
  const Dataset codes = with_code_column(drawn_domains(11, 60, Drawn::rows, 0.3, 12));
  const Dataset levels = to_levels(codes, "data", context());
  const Split of_codes = split(codes, 10, 10), of_levels = split(levels, 10, 10);
  const std::string pipeline = "trees rounds=3 leaves=4 | conformal method=weighted";
  const Model model = fitted(pipeline, codes, of_codes.view);
  ASSERT_EQ(stage(model.inspect())["method"], "weighted");
  const Prediction expected = fitted(pipeline, levels, of_levels.view).predict(of_levels.fresh, context());
  const Batch nameless{Features::dense(of_codes.fresh.x.to_matrix()), of_codes.fresh.domain};
  const Model again = reloaded(model);
  EXPECT_EQ(again.bytes(), model.bytes());
  for (const Model* each : {&model, &again})
    for (const Batch* batch : {&of_codes.fresh, &of_levels.fresh, &nameless})
      EXPECT_TRUE(same_bytes(each->predict(*batch, context()), expected));
}

TEST(ConformalStage, WeightedIsExpectedWithTheTargetsRows) {
  Dataset data = drawn_domains(5, 40, Drawn::rows, 0.2, 19);
  set_targets(data, {"d4"});
  ExpectOptions options;
  options.replay = NextDomainBy::cheap;
  const Pipeline pipeline = Pipeline::parse("logistic l2=0.1 | conformal method=weighted");
  EXPECT_EQ(code_of([&] { expect_targets(data, pipeline, options, context()); }), "none");
}

/// What a stage's file holds without a model in it.
StageState without_model(const StageState& state, const std::string& name) {
  StageState rest;
  rest.info = state.info;
  rest.info.erase(name);
  for (const auto& [array_name, array] : state.arrays())
    if (!array_name.starts_with(name + ".")) rest.set(array_name, array);
  return rest;
}

TEST(ConformalStage, RefusesRatiosOfOtherColumns) {
  const Dataset data = drawn_domains(11, 60, Drawn::rows, 0.3, 12);
  const TrainView view = split(data, 10, 10).view;
  const Model model = fitted("logistic l2=0.1 | conformal method=weighted", data, view);
  const StageInput input{1, Task::classify, model.classes()};
  const StageState saved = model.state(1);
  EXPECT_NE(Conformal::load(saved, {}, input), nullptr);
  for (const std::string pipeline : {"impute indicator=true | scale", "scale", "impute | scale | scale"}) {
    const StageState other = fitted(pipeline, data, view).as_state();
    StageState hostile = without_model(saved, "ratio");
    hostile.info["ratio"] = other.info;
    for (const auto& [name, array] : other.arrays()) hostile.set("ratio." + name, array);
    EXPECT_THAT(message_of([&] { Conformal::load(hostile, {}, input); }), HasSubstr("the pipeline of 'ratio'"))
        << pipeline;
  }
}

TEST(ConformalStage, RefusesNegativeScores) {
  const Dataset data = drawn_domains(11, 60, Drawn::rows, 0.3, 12);
  const TrainView view = split(data, 10, 10).view;
  for (const std::string method : {"jackknife", "weighted"}) {
    const Model model = fitted("logistic l2=0.1 | conformal method=" + method, data, view);
    StageState state = model.state(1);
    Vector scores = state.vector("scores", -1);
    scores[3] = -1e308;
    state.set("scores", scores);
    const StageInput input{1, Task::classify, model.classes()};
    EXPECT_EQ(code_of([&] { Conformal::load(state, {}, input); }), "bad_model") << method;
  }
}

TEST(ConformalStage, SmallDomainsDoNotCountByDomain) {
  Dataset data = drawn_domains(12, 20, Drawn::relation, 0.4, 13);
  // Two domains of three rows.
  std::vector<Index> rows;
  std::vector<int> seen(12, 0);
  for (Index i = 0; i < data.rows(); ++i) {
    const auto d = at(data.domain.index[at(i)]);
    if (d > 1 || seen[d]++ < 3) rows.push_back(i);
  }
  Recorder recorder;
  const Model model = fitted("logistic l2=0.1 | conformal method=domainwise", data,
                             train_view(data, rows, {}, context()), context().observed_by(&recorder));
  EXPECT_EQ(stage(model.inspect())["domains"], 10);
  EXPECT_EQ(stage(model.inspect())["left_out"].size(), 2U);
  EXPECT_THAT(stage(model.inspect())["promise"].get<std::string>(),
              HasSubstr("90% of new domains of at least 10 rows that differ as these 10 do"));
  EXPECT_EQ(recorder.warnings.at(0).first, "small_domains");
}

/// A table joins the classes of a set by |, and writes none for an empty one.
TEST(ConformalStage, WarnsOfClassesThatTablesOfSetsCannotTell) {
  Dataset data = drawn_domains(5, 30, Drawn::relation, 0.4, 14);
  for (const auto& [name, warnings] : {std::pair{"a", 0}, {"none", 1}, {"a|b", 1}}) {
    data.y->classes = {name, "z"};
    Recorder recorder;
    Model::fit(Pipeline::parse("logistic l2=0.1 | conformal method=cdf"), train_view(data, context()), data.schema,
               context().observed_by(&recorder));
    EXPECT_EQ(std::ranges::count_if(recorder.warnings, [](const auto& w) { return w.first == "ambiguous_sets"; }),
              warnings)
        << name;
  }
}

TEST(ConformalStage, RefusesWhatItCannotDo) {
  const Dataset data = drawn_domains(3, 20, Drawn::relation, 0.4, 14);
  const Dataset numbers = drawn_numbers(3, 20, 1, 14);
  const TrainView view = split(data, 2).view, of_numbers = split(numbers, 2).view;
  EXPECT_EQ(code_of([&] { fitted("logistic l2=0.1 | conformal", data, split(data, 1).view); }), "needs_two_domains");
  EXPECT_EQ(code_of([&] { fitted("logistic l2=0.1 | conformal score=absolute", data, view); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("ridge | conformal score=aps", numbers, of_numbers); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("ridge | conformal score=scaled", numbers, of_numbers); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("gp sigma=1 | conformal score=scaled method=jackknife", numbers, of_numbers); }),
            "bad_option");
  EXPECT_EQ(code_of([&] { fitted("logistic l2=0.1 | conformal folds=1", data, view); }), "bad_option");
  EXPECT_EQ(code_of([&] { fitted("logistic l2=0.1 | conformal folds=2", data, view); }), "none");
  EXPECT_EQ(code_of([&] { Pipeline::parse("logistic | conformal | calibrate"); }), "learner_not_last");
  EXPECT_EQ(code_of([&] { Pipeline::parse("scale | conformal"); }), "needs_learner");
}

TEST(ConformalStage, ScaledIntervalsFollowTheLearnersOwnSd) {
  const Dataset numbers = drawn_numbers(11, 15, 0.2, 15);
  const Split parts = split(numbers, 10);
  const Prediction p = fitted("scale | gp sigma=2 | conformal score=scaled method=cdf", numbers, parts.view)
                           .predict(parts.fresh, context());
  const Vector width = p.high - p.low;
  const Vector ratio = width.cwiseQuotient(p.variance.cwiseSqrt());
  EXPECT_NEAR(ratio.maxCoeff(), ratio.minCoeff(), 1e-9 * ratio.maxCoeff());
}

TEST(ConformalStage, StandsBehindCalibration) {
  const Dataset data = drawn_domains(11, 30, Drawn::relation, 0.6, 16);
  const Split parts = split(data, 10);
  const Model model = fitted("scale | svm C=1 | calibrate | conformal", data, parts.view);
  EXPECT_GT(covered(model.predict(parts.fresh, context()), data, parts.rows), 0.6);
}

TEST(ConformalStage, ManyRowsTakeOneSort) {
  // A row's quantile does not depend on the others asked with it.
  const Dataset data = drawn_domains(11, 30, Drawn::rows, 0.3, 17);
  const Split parts = split(data, 10, 10);
  const Model model = fitted("logistic l2=0.1 | conformal method=weighted", data, parts.view);
  const Prediction together = model.predict(parts.fresh, context(7));
  for (const Index row : {0, 7, 29}) {
    const std::vector<Index> one = {row};
    const Prediction alone = model.predict({parts.fresh.x.take(one), parts.fresh.domain->take(one)}, context());
    EXPECT_TRUE((alone.set.row(0) == together.set.row(row)).all());
  }
}

/// Certain and wrong predictions have the largest score, and a quantile of it lets every class in.
TEST(ConformalStage, AQuantileOfOneIsEverythingWithAWarning) {
  const Dataset data = drawn_domains(13, 30, Drawn::relation, 0.7, 15);
  const Split parts = split(data, 12);
  for (const std::string method : {"hcp", "cdf", "pooled"}) {
    Recorder recorder, again;
    const Model model = fitted("forest trees=1 bootstrap=false | conformal method=" + method, data, parts.view,
                               context().observed_by(&recorder));
    ASSERT_EQ(stage(model.inspect())["quantile"].get<double>(), 1) << method;
    EXPECT_THAT(stage(model.inspect())["promise"].get<std::string>(), HasSubstr("Sets hold everything")) << method;
    EXPECT_EQ(std::ranges::count_if(recorder.warnings, [](const auto& w) { return w.first == "infinite_sets"; }), 1);
    EXPECT_TRUE(reloaded(model).predict(parts.fresh, context().observed_by(&again)).set.all());
    ASSERT_EQ(again.warnings.size(), 1U) << method;
    EXPECT_EQ(again.warnings[0].first, "infinite_sets");
  }
}

TEST(ConformalStage, NoLargeDomainIsRefusedByDomain) {
  const Dataset data = drawn_domains(12, 5, Drawn::relation, 0.4, 13);
  EXPECT_EQ(code_of([&] { fitted("logistic l2=0.1 | conformal method=domainwise", data, split(data, 11).view); }),
            "small_domains");
}

}  // namespace conformal_stage_test
}  // namespace ecotone::test
