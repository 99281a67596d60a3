#include "ecotone/methods/learn/trees/trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "ecotone/base/random.h"
#include "methods/learn/trees/product_rows.h"
#include "source_dir.h"

namespace ecotone::test {
namespace trees_learner_test {

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
  Vector flat = Vector::Constant(300, 0.67661044319);
  flat[200] -= 1e-13;  // rounding
  EXPECT_EQ(least_round(flat), 1);
}

/// The curve of left-out domains is the mean, over domains, of the mean loss of models without each.
TEST(Trees, TheCurveOfLeftOutDomainsIsThatOfModelsWithoutThem) {
  std::vector<Index> rows;
  const TrainView all = product_view(400, 4);
  for (Index i = 0; i < 400; ++i)
    if (all.domain.index[at(i)] != 2 || i % 3 == 0) rows.push_back(i);  // one smaller than the others
  const TrainView view = view_of_rows(all, rows);
  const Json state = state_of(fitted("trees stop=domains leaves=5", view));
  const std::vector<double> curve = state["stop_loss"][0];
  for (const Index round : {1, 7, 40}) {
    double mean = 0;
    for (std::int32_t left_out = 0; left_out < 4; ++left_out) {
      std::vector<Index> train, held;
      for (Index i = 0; i < view.labelled(); ++i) (view.domain.index[at(i)] == left_out ? held : train).push_back(i);
      const TrainView own = view_of_rows(view, held);
      const Prediction p = fitted(fmt::format("trees rounds={} leaves=5", round), view_of_rows(view, train))
                               .predict({own.x, std::nullopt}, context());
      double loss = 0;
      for (Index i = 0; i < own.labelled(); ++i) loss -= std::log(p.probability(i, own.y.index[at(i)]));
      mean += loss / static_cast<double>(own.labelled()) / 4;
    }
    EXPECT_NEAR(curve[at(round - 1)], mean, 1e-9) << round;
  }
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
  EXPECT_EQ(code("trees loss=squared", classes), "needs_numbers");
  EXPECT_EQ(code("trees loss=logistic", numbers), "needs_classes");
  EXPECT_EQ(code("trees loss=logistic", three), "bad_option");
  EXPECT_EQ(code("trees loss=softmax", classes), "bad_option");
  EXPECT_EQ(code("trees monotone=x1:+1 multiclass=ova", three), "bad_option");
  EXPECT_EQ(code("trees min_domains=3", classes), "bad_option");
  TrainView negative = numbers;
  negative.y.value[3] = -1;
  EXPECT_EQ(code("trees loss=poisson", negative), "negative_label");
  TrainView one = classes;
  for (auto& d : one.domain.index) d = 0;
  EXPECT_EQ(code("trees stop=domains", one), "needs_two_domains");
  EXPECT_EQ(code("trees splits=agree", one), "needs_two_domains");
  EXPECT_EQ(code("trees splits=agree stop=domains", classes), "bad_option");
  EXPECT_EQ(code("trees min_domains=2 stop=domains", classes), "bad_option");
  EXPECT_EQ(code("trees splits=agree stop=domains", product_view(120, 3)), "none");
  TrainView idle = classes;
  idle.weight = Vector::Zero(120);
  EXPECT_EQ(code("trees", idle), "zero_weights");
  EXPECT_EQ(code("forest", idle), "zero_weights");
  for (Index i = 0; i < 120; ++i) idle.weight[i] = classes.y.index[at(i)] == 0 ? 1 : 0;
  EXPECT_EQ(code("trees", idle), "zero_weights");
  EXPECT_EQ(code("forest", idle), "zero_weights");
}

TEST(Trees, LossesHaveTheNamesOfWhatTheyAre) {
  const TrainView classes = product_view(200, 2), three = product_view(200, 2, 3), numbers = number_view(200, 2);
  const auto same = [](const std::string& name, const TrainView& view) {
    const auto bytes = [&](const std::string& options) {
      return fitted("trees rounds=3 leaves=4" + options, view).predict({view.x, {}}, context());
    };
    return same_bytes(bytes(" loss=" + name), bytes(""));
  };
  EXPECT_TRUE(same("logistic", classes));
  EXPECT_TRUE(same("softmax", three));
  EXPECT_TRUE(same("squared", numbers));
}

TEST(Trees, WarnOfWhatHasNothingToDoAndOfWeightsThatRoundAway) {
  TrainView view = product_view(120, 2);
  const auto warned = [&](const std::string& options) {
    Recorder recorder;
    fitted("trees rounds=2 " + options, view, context().observed_by(&recorder));
    std::vector<std::string> codes;
    for (const auto& [code, message] : recorder.warnings) codes.push_back(code);
    return codes;
  };
  EXPECT_EQ(warned("leaves=4"), (std::vector<std::string>{}));
  for (const char* idle : {"tau=0.2", "rho=2", "agree=0.5", "stop=rows"})
    EXPECT_EQ(warned(fmt::format("leaves=4 {}", idle)), (std::vector<std::string>{"unused_option"})) << idle;
  EXPECT_EQ(warned("leaves=5 shape=symmetric"), (std::vector<std::string>{"rounded_option"}));
  view.weight = Vector::Ones(120);
  view.weight[0] = 1e-9;
  EXPECT_EQ(warned("leaves=4"), (std::vector<std::string>{"weights_span"}));
}

/// The start of the scores is finite, however little a class weighs.
TEST(Trees, AClassOfNearlyNoWeightStartsSomewhere) {
  for (const Index classes : {2, 3}) {
    TrainView view = product_view(120, 2, classes);
    view.weight = Vector::Ones(120);
    for (Index i = 0; i < 120; ++i)
      if (view.y.index[at(i)] == 0) view.weight[i] = 1e-40;
    for (const char* loss : {"auto", "probit"}) {
      if (classes > 2 && std::string(loss) == "probit") continue;
      const Model model = fitted(fmt::format("trees rounds=2 leaves=4 loss={}", loss), view);
      const Prediction p = reloaded(model).predict({view.x, {}}, context());
      EXPECT_TRUE(p.score.allFinite() && p.probability.allFinite()) << loss;
      EXPECT_LT(p.probability.col(0).maxCoeff(), 1e-9);
    }
  }
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

/// The order in which rows come decides nothing but the order of the domains that are listed.
TEST(Trees, AreThoseOfTheRowsInAnyOrder) {
  TrainView view = product_view(3000, 3);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 3000; ++i) x(i, 3) = static_cast<double>(i * i % 11);
  view.x = Features::dense(x);
  for (const char* pipeline : {"trees rounds=4 leaves=8", "trees rounds=4 leaves=8 splits=agree",
                               "trees rounds=4 leaves=8 shape=symmetric", "trees rounds=3 leaves=8 min_domains=3"}) {
    const StageState one = fitted_with_categories(pipeline, view, 11).state(0);
    std::vector<Index> order = Random(3, "order").permutation(3000);
    const StageState other = fitted_with_categories(pipeline, view_of_rows(view, order), 11).state(0);
    for (const char* name : {"start", "feature", "threshold", "flags", "left", "right", "gain", "value", "cover",
                             "level_set", "level", "importance"})
      EXPECT_EQ(one.arrays().at(name).values, other.arrays().at(name).values) << pipeline << " " << name;
  }
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

TEST(Trees, EqualWeightsOfDomainsAreTheirRowsByTheirSize) {
  std::vector<Index> rows;
  const TrainView all = product_view(400, 2);
  for (Index i = 0; i < 400; ++i)
    if (all.domain.index[at(i)] == 0 || i % 16 < 4) rows.push_back(i);
  TrainView view = view_of_rows(all, rows);
  const auto score = [&](const std::string& options) {
    return fitted("trees rounds=10 leaves=6" + options, view).predict({all.x, {}}, context()).score;
  };
  const Matrix equal = score(" domain_weights=equal"), pooled = score("");
  Vector size = Vector::Zero(2);
  for (const std::int32_t d : view.domain.index) size[d] += 1;
  ASSERT_GT(size[0], 2 * size[1]);
  view.weight.resize(std::ssize(rows));
  for (Index i = 0; i < view.weight.size(); ++i) view.weight[i] = size.sum() / 2 / size[view.domain.index[at(i)]];
  EXPECT_LT((equal - score("")).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_GT((equal - pooled).cwiseAbs().maxCoeff(), 0.05);
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

TEST(Trees, AreGrownOnNoMoreRowsThanAreDrawn) {
  const Json state = state_of(fitted("trees rounds=20 leaves=4 rows=0.1", product_view(150, 2)));
  const std::vector<Index> first = state["leaf_first"];
  for (std::size_t t = 0; t + 1 < first.size(); ++t) {
    double rows = 0;
    for (Index leaf = first[t]; leaf < first[t + 1]; ++leaf) rows += state["cover"][at(leaf)].get<double>();
    EXPECT_LT(rows, 50) << t;
  }
}

TEST(Trees, ChosenOnesAreTheSameBytesForAnyNumberOfThreads) {
  const TrainView view = product_view(300, 4);
  for (const char* pipeline :
       {"trees", "impute | scale | trees rows=0.5 cols=0.5", "trees stop=domains splits=agree"}) {
    const std::string one = fitted(pipeline, view, context(1)).bytes();
    for (const int threads : {2, 7})
      EXPECT_TRUE(one == fitted(pipeline, view, context(threads)).bytes()) << pipeline << " " << threads;
  }
}

TEST(Forest, PartsOfEqualLabelsAreNotSplit) {
  TrainView view = product_view(2000, 2);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < 2000; ++i) {
    x(i, 0) = std::round(10 * x(i, 0)) / 10;  // few enough values for a bin each
    view.y.index[at(i)] = x(i, 0) > 0.3;
  }
  view.x = Features::dense(std::move(x));
  const Json first = state_of(fitted("forest trees=5 columns=4", view))["leaf_first"];
  EXPECT_EQ(first.back().get<Index>(), 10);
  TrainView same = number_view(200, 2);
  same.y.value.setConstant(0.1);
  EXPECT_EQ(state_of(fitted("forest trees=5", same))["leaf_first"].back().get<Index>(), 5);
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

/// Only the ratios of weights matter to a forest.
TEST(Forest, DoesNotDependOnTheUnitOfTheWeights) {
  TrainView view = product_view(200, 2);
  view.weight = Vector::LinSpaced(200, 1, 3);
  const auto predicted = [&] { return fitted("forest trees=5", view).predict({view.x, {}}, context()).probability; };
  const Matrix usual = predicted();
  view.weight *= std::ldexp(1.0, -60);
  EXPECT_EQ(usual, predicted());
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
