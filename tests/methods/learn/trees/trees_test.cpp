#include "ecotone/methods/learn/trees/trees.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "ecotone/base/random.h"
#include "ecotone/methods/learn/forest/forest.h"
#include "ecotone/methods/pipeline.h"
#include "ecotone/methods/refits.h"
#include "ecotone/methods/registry.h"
#include "methods/support.h"
#include "source_dir.h"

namespace ecotone::test {
namespace trees_learner_test {

/// Classes that depend on a product, so that no sum of columns tells them apart, with missing values.
TrainView product_view(Index rows, Index domains, Index classes = 2) {
  TrainView view = overlapping(rows, 4, classes, domains);
  Random random(5, "product");
  Matrix x(rows, 4);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 4; ++j) x(i, j) = random.normal();
    const double score = 3 * x(i, 0) * x(i, 1) + 0.5 * random.normal();
    view.y.index[at(i)] = static_cast<std::int32_t>(classes == 2 ? score > 0 : (score > -1) + (score > 1));
    if (i % 9 == 0) x(i, 2) = nan;
  }
  view.x = Features::dense(std::move(x));
  return view;
}

TrainView number_view(Index rows, Index domains) {
  TrainView view = product_view(rows, domains);
  const Matrix x = view.x.to_matrix();
  Random random(6, "numbers");
  view.y = {Task::regress, {}, {}, Vector(rows)};
  for (Index i = 0; i < rows; ++i) view.y.value[i] = 2 + x(i, 0) * x(i, 1) + 0.3 * random.normal();
  return view;
}

double accuracy(const Model& model, const TrainView& view) {
  const Prediction p = model.predict({view.x, std::nullopt}, context());
  Index right = 0;
  for (Index i = 0; i < view.labelled(); ++i) right += p.index[at(i)] == view.y.index[at(i)];
  return static_cast<double>(right) / static_cast<double>(view.labelled());
}

Json state_of(const Model& model) { return model.inspect()["stages"][0]; }

TEST(Trees, LearnAProductThatNoSumOfColumnsTells) {
  const TrainView view = product_view(800, 3), other = product_view(1600, 3);
  EXPECT_GT(accuracy(fitted("trees leaves=8", view), other), 0.85);
  EXPECT_LT(accuracy(fitted("impute | logistic l2=0.01", view), other), 0.6);
  EXPECT_GT(accuracy(fitted("trees shape=symmetric leaves=16 rounds=60", view), other), 0.85);
  EXPECT_GT(accuracy(fitted("trees rounds=60 leaves=8", product_view(900, 3, 3)), product_view(1800, 3, 3)), 0.6);
}

TEST(Trees, ChooseTheRoundWhereTheMeanCurveIsLeast) {
  std::ifstream file(source_dir() / "tests/golden/trees/stopping.json");
  const Json d = Json::parse(file);
  const auto mean_of = [](const Json& curves) {
    Vector mean = Vector::Zero(std::ssize(curves[0]));
    for (const Json& curve : curves)
      for (Index r = 0; r < mean.size(); ++r) mean[r] += curve[at(r)].get<double>();
    return mean;
  };
  EXPECT_EQ(least_round(mean_of(d["curves"])), d["mean"].get<Index>());
  EXPECT_EQ(least_round(mean_of(d["flat"]["curves"])), d["flat"]["mean"].get<Index>());
}

TEST(Trees, SayWhatWasLeftOutAndFollowTheCurve) {
  const Json few = state_of(fitted("trees", product_view(300, 3)));
  EXPECT_EQ(few["stop"]["left_out"], "rows");
  EXPECT_EQ(few["stop"]["folds"], 5);
  EXPECT_EQ(few["stop"]["tried"], Json({4, 15}));
  const Json many = state_of(fitted("trees leaves=4", product_view(300, 12)));
  EXPECT_EQ(many["stop"]["left_out"], "domains");
  const std::vector<double> curve = many["stop_loss"][0];
  ASSERT_EQ(curve.size(), 300U);
  const auto least = std::min_element(curve.begin(), curve.end()) - curve.begin();
  EXPECT_EQ(many["rounds"].get<Index>(), least + 1);
  const Json given = state_of(fitted("trees rounds=7 leaves=5", product_view(300, 3)));
  EXPECT_EQ(given["rounds"], 7);
  EXPECT_EQ(given["stop"]["left_out"], "");
}

TEST(Trees, ChooseTheSameInFoldsWithoutStagesAsWithOnesThatChangeNothing) {
  const TrainView view = product_view(240, 3);
  const Json alone = state_of(fitted("trees", view));
  const Json behind = fitted("impute indicator=false strategy=median | trees", view).inspect()["stages"][1];
  EXPECT_EQ(behind["stop"]["left_out"], "rows");
  EXPECT_EQ(behind["stop"]["folds"], alone["stop"]["folds"]);
  TrainView complete = view;
  Matrix x = view.x.to_matrix();
  x.col(2).setZero();
  complete.x = Features::dense(x);
  EXPECT_EQ(state_of(fitted("trees", complete))["stop_loss"],
            fitted("impute | trees", complete).inspect()["stages"][1]["stop_loss"]);
}

TEST(Trees, LossesOfNumbersPredictWhatTheySay) {
  const TrainView view = number_view(1500, 3);
  const Vector y = view.y.value;
  const auto predicted = [&](const char* pipeline) {
    return fitted(pipeline, view).predict({view.x, std::nullopt}, context()).value;
  };
  const double spread = (y.array() - y.mean()).square().mean();
  EXPECT_LT((predicted("trees rounds=60 leaves=8") - y).array().square().mean(), 0.5 * spread);
  EXPECT_LT((predicted("trees rounds=60 leaves=8 loss=absolute") - y).array().abs().mean(),
            0.8 * (y.array() - y.mean()).abs().mean());
  for (const double tau : {0.1, 0.9}) {
    const Vector q = predicted(fmt::format("trees rounds=60 leaves=8 loss=quantile tau={}", tau).c_str());
    EXPECT_NEAR((y.array() <= q.array()).cast<double>().mean(), tau, 0.05);
  }
  TrainView counts = view;
  counts.y.value = (y.array().exp() / 3).round().cwiseMax(0.0).cwiseMin(50.0);
  const Vector rate = fitted("trees rounds=60 leaves=8 loss=poisson", counts).predict({view.x, {}}, context()).value;
  EXPECT_GT(rate.minCoeff(), 0);
  EXPECT_NEAR(rate.mean(), counts.y.value.mean(), 0.05 * counts.y.value.mean());
}

TEST(Trees, ProbitAndAnchorGiveProbabilities) {
  const TrainView view = product_view(600, 3);
  for (const char* pipeline :
       {"trees loss=probit rounds=40 leaves=8", "trees loss=probit gamma=3 rounds=40 leaves=8"}) {
    const Prediction p = fitted(pipeline, view).predict({view.x, std::nullopt}, context());
    for (Index i = 0; i < 600; ++i) {
      EXPECT_NEAR(p.probability.row(i).sum(), 1, 1e-12);
      EXPECT_NEAR(p.probability(i, 1), 0.5 * std::erfc(-p.score(i, 0) * M_SQRT1_2), 1e-9);
    }
  }
}

TEST(Trees, RefuseWhatTheyCannotDo) {
  const TrainView classes = product_view(120, 2), numbers = number_view(120, 2), three = product_view(120, 2, 3);
  const auto code = [](const char* pipeline, const TrainView& view) {
    return code_of([&] { fitted(pipeline, view); });
  };
  EXPECT_EQ(code("trees loss=poisson", classes), "needs_numbers");
  EXPECT_EQ(code("trees loss=probit", numbers), "needs_classes");
  EXPECT_EQ(code("trees loss=probit", three), "bad_option");
  EXPECT_EQ(code("trees gamma=2", classes), "bad_option");
  EXPECT_EQ(code("trees rounds=2.5", classes), "bad_option");
  EXPECT_EQ(code("trees monotone=x1", classes), "bad_option");
  EXPECT_EQ(code("trees monotone=x9:+1", classes), "missing_column");
  EXPECT_EQ(code("trees monotone=x1:+1 shape=symmetric", classes), "bad_option");
  EXPECT_EQ(code("trees monotone=x1:+1,x1:-1", classes), "bad_option");
  EXPECT_EQ(code("trees monotone=x1:+1", three), "bad_option");
  EXPECT_EQ(code("trees monotone=x1:+1 loss=quantile", numbers), "bad_option");
  EXPECT_EQ(code("trees splits=agree shape=symmetric", classes), "bad_option");
  TrainView negative = numbers;
  negative.y.value[3] = -1;
  EXPECT_EQ(code("trees loss=poisson", negative), "negative_label");
  TrainView one = classes;
  for (auto& d : one.domain.index) d = 0;
  EXPECT_EQ(code("trees stop=domains", one), "needs_two_domains");
}

TEST(Trees, TakeOneRowConstantColumnsAndInfinities) {
  TrainView view = product_view(60, 2);
  Matrix x = view.x.to_matrix();
  x.col(0).setConstant(4);
  x.col(1).setConstant(nan);
  x(0, 2) = HUGE_VAL;
  x(1, 2) = -HUGE_VAL;
  view.x = Features::dense(x);
  for (const char* pipeline : {"trees", "trees rounds=5 leaves=4 min_rows=1 max_bins=3", "forest trees=5"}) {
    const Model model = fitted(pipeline, view);
    const Prediction p = reloaded(model).predict({view.x, std::nullopt}, context());
    EXPECT_TRUE(p.probability.allFinite()) << pipeline;
    EXPECT_TRUE(same_bytes(p, model.predict({view.x, std::nullopt}, context())));
  }
  TrainView one = view_of(Features::dense(Matrix::Ones(1, 2)), number_labels({3.5}));
  for (const char* pipeline : {"trees", "forest"})
    EXPECT_NEAR(fitted(pipeline, one).predict({one.x, std::nullopt}, context()).value[0], 3.5, 1e-12) << pipeline;
}

TEST(Trees, ThresholdsBetweenInfinitiesAndNumbersSurviveTheFile) {
  TrainView view = product_view(80, 1);
  Matrix x = Matrix::Zero(80, 2);
  for (Index i = 0; i < 80; ++i) {
    x(i, 0) = view.y.index[at(i)] == 1 ? -HUGE_VAL : 1;
    x(i, 1) = view.y.index[at(i)] == 1 ? nan : 2;
  }
  view.x = Features::dense(x);
  for (const char* monotone : {"", " monotone=x1:-1"}) {
    const Model model = fitted(fmt::format("trees rounds=3 leaves=2{}", monotone), view);
    EXPECT_TRUE(same_bytes(reloaded(model).predict({view.x, std::nullopt}, context()),
                           model.predict({view.x, std::nullopt}, context())));
    EXPECT_EQ(accuracy(model, view), 1);
  }
}

TEST(Trees, TwoEqualRowsCountAsOneOfTwiceTheWeight) {
  const TrainView view = product_view(200, 2);
  std::vector<Index> twice;
  for (Index i = 0; i < 200; ++i) twice.insert(twice.end(), i < 50 ? 2 : 1, i);
  TrainView weighted = view, copied = view_of_rows(view, twice);
  weighted.weight = Vector::Ones(200);
  weighted.weight.head(50).setConstant(2);
  // Rows are counted for min_rows, so it must not bind.
  const char* pipeline = "trees rounds=10 leaves=6 min_rows=1 min_hessian=2";
  const Prediction a = fitted(pipeline, weighted).predict({view.x, {}}, context());
  const Prediction b = fitted(pipeline, copied).predict({view.x, {}}, context());
  EXPECT_LT((a.score - b.score).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Trees, AreTheSameBytesForAnyNumberOfThreadsOn200000Rows) {
  const TrainView view = product_view(200'000, 3);
  const auto bytes = [&](int threads) { return fitted("trees rounds=3 leaves=8", view, context(threads)).bytes(); };
  const std::string one = bytes(1);
  EXPECT_EQ(one, bytes(2));
  EXPECT_EQ(one, bytes(7));
}

TEST(Trees, ImportanceFindsTheColumnsAndAddsUpOverDomains) {
  const Json state = state_of(fitted("trees rounds=30 leaves=8 lam=0", product_view(1000, 4)));
  const std::vector<double> gain = state["importance"];
  EXPECT_GT(gain[0] + gain[1], 5 * (gain[2] + gain[3]));
  ASSERT_EQ(state["importance_domain"].size(), 4U);
  for (std::size_t j = 0; j < 4; ++j) {
    double sum = 0;
    for (const Json& domain : state["importance_domain"]) sum += domain[j].get<double>();
    EXPECT_NEAR(sum, gain[j], 1e-6 * gain[0]);
  }
}

TEST(Trees, EqualWeightsOfDomainsOfOneSizeChangeNothing) {
  const TrainView view = product_view(300, 3);
  const char* pooled = "trees rounds=10 leaves=6";
  const Prediction a = fitted(pooled, view).predict({view.x, {}}, context());
  const Prediction b = fitted(std::string(pooled) + " domain_weights=equal", view).predict({view.x, {}}, context());
  EXPECT_LT((a.score - b.score).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Trees, DrawSoFewRowsThatSomeTreesWouldHaveNone) {
  const TrainView view = product_view(100, 2);
  const Model model = fitted("trees rounds=20 leaves=4 rows=0.01 lam=0", view);
  EXPECT_TRUE(reloaded(model).predict({view.x, {}}, context()).probability.allFinite());
}

TEST(Trees, SymmetricOnesKeepToTheirLeavesAndDepth) {
  const auto leaves = [](const std::string& options) {
    const Json state = state_of(fitted("trees rounds=5 shape=symmetric " + options, product_view(900, 2)));
    Index most = 0;
    for (std::size_t t = 1; t < state["leaf_first"].size(); ++t)
      most = std::max(most, state["leaf_first"][t].get<Index>() - state["leaf_first"][t - 1].get<Index>());
    return most;
  };
  EXPECT_GT(leaves("leaves=16"), 4);
  EXPECT_LE(leaves("leaves=16 depth=2"), 4);
  EXPECT_LE(leaves("leaves=4 depth=9"), 4);
}

TEST(Trees, MonotoneColumnsAreFoundByNameBehindAStage) {
  TrainView view = number_view(240, 12);
  view.y.value += 3 * view.x.to_matrix().col(0);
  const Model model = fitted("impute indicator=true | trees monotone=x1:+1 leaves=4", view);
  Matrix along = view.x.to_matrix().row(5).replicate(40, 1);
  for (Index k = 0; k < 40; ++k) along(k, 0) = -3 + 6 * static_cast<double>(k) / 39;
  const Vector value = model.predict({Features::dense(along), {}}, context()).value;
  for (Index k = 1; k < 40; ++k) EXPECT_GE(value[k], value[k - 1]);
  EXPECT_GT(value[39], value[0] + 1);
  EXPECT_EQ(code_of([&] { model.refitted(view, 2, context()); }), "cannot_refit");
}

TEST(Trees, AFoldWithoutCountsIsLeftOutOfTheChoice) {
  TrainView view = number_view(120, 2);
  for (Index i = 0; i < 120; ++i) view.y.value[i] = view.domain.index[at(i)] == 0 ? static_cast<double>(i % 5) : 0;
  const Json state = state_of(fitted("trees loss=poisson stop=domains leaves=4", view));
  EXPECT_EQ(state["stop"]["folds"], 1);
}

TEST(Trees, RefitMovesEveryClassAndKeepsRatesInBounds) {
  const TrainView three = product_view(600, 2, 3);
  TrainView few = product_view(30, 1, 3);
  for (auto& cls : few.y.index) cls = 2;
  const Model model = fitted("trees rounds=10 leaves=4", three), moved = model.refitted(few, 2, context());
  EXPECT_GT(moved.predict({three.x, {}}, context()).probability.col(2).mean(),
            model.predict({three.x, {}}, context()).probability.col(2).mean() + 0.05);
  TrainView counts = number_view(200, 2);
  counts.y.value = counts.y.value.array().abs().round();
  TrainView many = counts;
  many.y.value.setConstant(1e6);
  const Model rate = fitted("trees loss=poisson rounds=10 leaves=4", counts);
  const Vector before = rate.predict({counts.x, {}}, context()).value;
  const Vector after = rate.refitted(many, 2, context()).predict({counts.x, {}}, context()).value;
  EXPECT_LT((after.array() / before.array()).maxCoeff(), std::exp(0.7) + 1e-9);  // 10 rounds of at most 0.07
  EXPECT_GT((after.array() / before.array()).minCoeff(), 1.5);
}

TEST(Trees, RefitMovesLeavesTowardsTheRows) {
  const TrainView view = product_view(400, 3);
  TrainView target = product_view(40, 1);
  for (auto& cls : target.y.index) cls = 1;
  target.y.index[0] = 0;
  const Model model = fitted("trees rounds=20 leaves=6", view);
  const auto mean = [&](const Model& of) { return of.predict({view.x, {}}, context()).probability.col(1).mean(); };
  const double before = mean(model), little = mean(model.refitted(target, 50, context())),
               much = mean(model.refitted(target, 2, context()));
  EXPECT_LT(before, little);
  EXPECT_LT(little, much);
  EXPECT_NEAR(mean(model.refitted(target, 1e12, context())), before, 1e-9);
  EXPECT_EQ(code_of([&] { fitted("impute | logistic", view).refitted(target, 2, context()); }), "cannot_refit");
  const TrainView numbers = number_view(100, 2);
  EXPECT_EQ(code_of([&] { fitted("trees loss=absolute rounds=3", numbers).refitted(numbers, 2, context()); }),
            "cannot_refit");
  EXPECT_EQ(code_of([&] { model.refitted(numbers, 2, context()); }), "needs_classes");
  TrainView unknown = target;
  unknown.y.classes = {"c0", "c7"};
  EXPECT_EQ(code_of([&] { model.refitted(unknown, 2, context()); }), "unknown_class");
}

/// Every check of the reader: one entry changed at a time.
TEST(Trees, HostileArraysAreRefused) {
  const Model model = fitted("trees rounds=3 leaves=4", product_view(200, 2));
  const StageState good = model.state(0);
  const auto with = [&](const char* name, std::size_t place, double value) {
    StageState bad = good;
    StageState::Array array = good.arrays().at(name);
    array.values.at(place) = value;
    bad.set(name, array);
    return code_of([&] { Trees::load(bad, {}, {4, Task::classify, {"c0", "c1"}}); });
  };
  EXPECT_EQ(code_of([&] { Trees::load(good, {}, {4, Task::classify, {"c0", "c1"}}); }), "none");
  const std::vector<std::tuple<const char*, std::size_t, double>> bad = {
      {"feature", 0, 4},     {"feature", 0, -1},     {"feature", 0, 0.5},   {"flags", 0, 16}, {"flags", 0, 2},
      {"left", 0, 0},        {"left", 0, 99},        {"left", 0, -99},      {"right", 2, -1}, {"tree_first", 0, 1},
      {"tree_first", 1, 9},  {"leaf_first", 1, 3},   {"level_first", 0, 1}, {"cover", 0, 0},  {"value", 0, nan},
      {"threshold", 0, nan}, {"start", 0, HUGE_VAL}, {"categorical", 0, 2}, {"gain", 0, nan}, {"importance", 0, nan}};
  for (const auto& [name, place, value] : bad) EXPECT_EQ(with(name, place, value), "bad_model") << name << " " << value;
  StageState loss = good;
  loss.info["loss"] = "softmax";
  EXPECT_EQ(code_of([&] { Trees::load(loss, {}, {4, Task::classify, {"c0", "c1"}}); }), "bad_model");
  EXPECT_EQ(code_of([&] { Trees::load(good, {}, {4, Task::regress, {}}); }), "bad_model");
  EXPECT_EQ(code_of([&] { Trees::load(good, {}, {2, Task::classify, {"c0", "c1"}}); }), "bad_model");
  loss.set("stop_loss", StageState::Array{{3, 0}, {}});
  for (const std::vector<std::string>& classes : std::vector<std::vector<std::string>>{{}, {"a"}, {"a", "b"}})
    EXPECT_EQ(code_of([&] { Trees::load(loss, {}, {4, Task::classify, classes}); }), "bad_model");
  StageState curves = good;
  curves.set("stop_loss", StageState::Array{{2, 1}, {1, 1}});
  EXPECT_EQ(code_of([&] { Trees::load(curves, {}, {4, Task::classify, {"c0", "c1"}}); }), "bad_model");
  for (const char* name : {"stop", "domains", "rounds", "monotone", "rate"}) {
    StageState without = good;
    without.info.erase(name);
    EXPECT_EQ(code_of([&] { Trees::load(without, {}, {4, Task::classify, {"c0", "c1"}}); }), "bad_model") << name;
  }
  const StageState forest = fitted("forest trees=2", product_view(100, 2)).state(0);
  EXPECT_EQ(code_of([&] { Forest::load(forest, {}, {4, Task::classify, {"c0", "c1"}}); }), "none");
  EXPECT_EQ(code_of([&] { Forest::load(forest, {}, {4, Task::classify, {}}); }), "bad_model");
  EXPECT_EQ(code_of([&] { Forest::load(forest, {}, {4, Task::classify, {"a", "b", "c"}}); }), "bad_model");
}

/// Files whose numbers were changed at random load or are refused, and what loads answers or is refused.
TEST(Trees, AThousandHostileFilesAreRefusedOrHarmless) {
  TrainView view = product_view(200, 2);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 200; ++i) {
    x(i, 3) = static_cast<double>(i % 9);
    if (i % 7 != 0) view.y.index[at(i)] = i % 9 < 4 ? 1 : 0;
  }
  view.x = Features::dense(x);
  view.categories = {3};
  const StageInput input{4, Task::classify, {"c0", "c1"}};
  FitCache cache;
  const auto fitted_trees =
      Trees::fit(view, read_options<TreesOptions>(stage_options(method("trees"), {{"rounds", "4"}, {"leaves", "6"}})),
                 context(), cache);
  const StageState good = fitted_trees.fitted->save();
  std::vector<std::string> names;
  for (const auto& [name, array] : good.arrays())
    if (!array.values.empty()) names.push_back(name);
  ASSERT_FALSE(good.arrays().at("level_set").values.empty());
  Random random(8, "hostile trees");
  const std::vector<double> bad = {-1,  0,   1,    2,     3,      0.5,      7,   255,
                                   256, 1e9, -1e9, 1e300, -1e300, HUGE_VAL, nan, 4294967295.0};
  Index refused = 0, answered = 0;
  for (int k = 0; k < 1000; ++k) {
    StageState state = good;
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::string& name = names[random.below(names.size())];
      StageState::Array array = state.arrays().at(name);
      array.values[random.below(array.values.size())] = bad[random.below(bad.size())];
      state.set(name, array);
    }
    const std::string code = code_of([&] {
      const auto loaded = Trees::load(state, {}, input);
      const Batch batch{view.x, std::nullopt, {}};
      EXPECT_EQ(loaded->predict(batch, context()).index.size(), 200U);
      EXPECT_EQ(loaded->contributions(batch, context()).rows(), 200);
    });
    EXPECT_TRUE(code == "none" || code == "bad_model" || code == "non_finite") << code;
    (code == "none" ? answered : refused) += 1;
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(answered, 100);
}

TEST(Forest, LearnsTheProductAndGivesShares) {
  const TrainView view = product_view(800, 3), other = product_view(1600, 3);
  const Model model = fitted("forest trees=60", view);
  EXPECT_GT(accuracy(model, other), 0.85);
  const Prediction p = model.predict({other.x, std::nullopt}, context());
  EXPECT_GE(p.probability.minCoeff(), 0);
  EXPECT_GT(accuracy(fitted("forest trees=40", product_view(900, 3, 3)), product_view(1800, 3, 3)), 0.6);
  const TrainView numbers = number_view(800, 2);
  const Vector value = fitted("forest trees=40", numbers).predict({numbers.x, {}}, context()).value;
  EXPECT_LT((value - numbers.y.value).array().square().mean(), 0.5);
}

}  // namespace trees_learner_test
}  // namespace ecotone::test
