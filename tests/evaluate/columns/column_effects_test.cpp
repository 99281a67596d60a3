#include "ecotone/evaluate/columns/column_effects.h"

#include <cmath>
#include <set>

#include "evaluate/support.h"

namespace ecotone::test {
namespace column_effects_test {

using testing::HasSubstr;

/// Domains of `rows` rows; columns signal, noise, and "kind", a text column of three levels. The number to predict is
/// 3 signal + (0, 1, 5 by level); the class is whether it exceeds 2.
Dataset made(Index domains, Index rows, Task task) {
  Random random(7, "column-effects");
  const Index n = domains * rows;
  Matrix x(n, 5);
  x.setZero();
  Dataset data;
  Labels y;
  y.task = task;
  if (task == Task::classify) y.classes = {"no", "yes"};
  if (task == Task::regress) y.value.resize(n);
  constexpr double effect[] = {0, 1, 5};
  for (Index i = 0; i < n; ++i) {
    const auto level = static_cast<Index>(random.below(3));
    x(i, 0) = random.normal();
    x(i, 1) = random.normal();
    x(i, 2 + level) = 1;
    const double value = 3 * x(i, 0) + effect[level];
    if (task == Task::classify) y.index.push_back(value > 2 ? 1 : 0);
    if (task == Task::regress) y.value[i] = value;
    data.domain.index.push_back(static_cast<std::int32_t>(i / rows));
  }
  for (Index d = 0; d < domains; ++d) data.domain.names.push_back(fmt::format("site{}", d));
  data.role.assign(at(domains), Role::source);
  data.schema.columns = {{"signal", ColumnKind::numeric, {}},
                         {"noise", ColumnKind::numeric, {}},
                         {"kind", ColumnKind::categorical, {"a", "b", "c"}}};
  data.schema.label = "y";
  data.x = Features::dense(std::move(x), data.schema.feature_names());
  data.y = std::move(y);
  return data;
}

Model fitted(const std::string& pipeline, const Dataset& data, const Context& context) {
  return Model::fit(Pipeline::parse(pipeline), train_view(data, context), data.schema, context);
}

const ColumnEffect& effect_of(const ColumnEffects& effects, const std::string& name) {
  return *std::ranges::find(effects.columns, name, &ColumnEffect::column);
}

/// Every number of a result, in order.
std::vector<double> numbers_of(const ColumnEffects& effects) {
  std::vector<double> numbers;
  for (const EffectDomain& domain : effects.domains) numbers.push_back(domain.score.value_or(-1));
  for (const ColumnEffect& effect : effects.columns) {
    for (const ShuffleLoss& loss : effect.importance) {
      numbers.push_back(loss.mean.value_or(-1));
      numbers.push_back(loss.spread.value_or(-1));
    }
    for (const auto& of_domain : effect.curves)
      for (const auto& curve : of_domain) numbers.insert(numbers.end(), curve.begin(), curve.end());
    for (const auto& curve : effect.pooled) numbers.insert(numbers.end(), curve.begin(), curve.end());
  }
  return numbers;
}

TEST(ColumnEffects, ALinearModelHasStraightParallelCurvesOfItsSlope) {
  const Context context;
  const Dataset data = made(3, 100, Task::regress);
  const ColumnEffects effects = column_effects(fitted("least_squares l2=1e-10", data, context), data, {}, context);
  EXPECT_EQ(effects.metric, "rmse");
  EXPECT_EQ(effects.scores, std::vector<std::string>{"y"});
  ASSERT_EQ(effects.columns.size(), 3U);
  EXPECT_EQ(effects.columns.back().column, "noise");
  const ColumnEffect& signal = effect_of(effects, "signal");
  ASSERT_EQ(signal.values.size(), 33U);
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t p = 1; p < 33; ++p) {
      const double step = signal.values[p] - signal.values[p - 1];
      EXPECT_NEAR(signal.curves[d][0][p] - signal.curves[d][0][p - 1], 3 * step, 1e-6);
    }
  const ColumnEffect& kind = effect_of(effects, "kind");
  EXPECT_EQ(kind.levels, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_NEAR(kind.pooled[0][1] - kind.pooled[0][0], 1, 1e-6);
  EXPECT_NEAR(kind.pooled[0][2] - kind.pooled[0][0], 5, 1e-6);
  // A shuffled signal of weight 3 and variance 1 adds an error of about 3 sqrt(2).
  EXPECT_NEAR(*signal.mean, 3 * std::sqrt(2.0), 0.4);
  EXPECT_NEAR(effects.domains[0].score.value(), 0, 1e-6);
  for (const auto& found : opposite_curves(effects)) EXPECT_FALSE(found);
}

TEST(ColumnEffects, AColumnThatIsNotUsedHasNoImportanceAndAFlatCurve) {
  const Context context;
  const Dataset data = made(2, 150, Task::classify);
  for (const char* pipeline : {"tgreedy steps=1", "adaboost rounds=1"}) {
    const ColumnEffects effects = column_effects(fitted(pipeline, data, context), data, {}, context);
    EXPECT_EQ(effects.metric, "auroc");
    EXPECT_NE(effects.columns.front().column, "noise");
    EXPECT_GT(effects.columns.front().mean.value(), 0.05) << pipeline;
    const ColumnEffect& noise = effect_of(effects, "noise");
    for (std::size_t d = 0; d < 2; ++d) {
      EXPECT_EQ(noise.importance[d].mean.value(), 0) << pipeline;
      EXPECT_EQ(noise.importance[d].spread.value(), 0) << pipeline;
      EXPECT_EQ(swing(noise.curves[d][0]), 0) << pipeline;
      EXPECT_FALSE(noise.importance[d].hurts(5));
    }
  }
}

TEST(ColumnEffects, AreTheSameForAnyNumberOfThreads) {
  const Dataset data = made(3, 60, Task::classify);
  for (const char* pipeline : {"scale | logistic l2=0.01", "scale | svm", "adaboost rounds=20"}) {
    const Model model = fitted(pipeline, data, on(1));
    const std::vector<double> one = numbers_of(column_effects(model, data, {}, on(1, 3)));
    for (const int threads : {2, 7}) EXPECT_EQ(numbers_of(column_effects(model, data, {}, on(threads, 3))), one);
  }
}

TEST(ColumnEffects, DomainsAndSeedsAreShuffledDifferently) {
  Dataset data = made(1, 80, Task::regress);
  // Two domains with the same rows.
  std::vector<Index> twice(160);
  for (Index i = 0; i < 160; ++i) twice[at(i)] = i % 80;
  data.x = data.x.take(twice);
  data.y = data.y->take(twice);
  data.domain = {{"one", "two"}, std::vector<std::int32_t>(80, 0)};
  data.domain.index.resize(160, 1);
  data.role.assign(2, Role::source);
  const Model model = fitted("least_squares", data, on(1));
  const ColumnEffects first = column_effects(model, data, {}, on(2, 1));
  const ColumnEffects second = column_effects(model, data, {}, on(2, 2));
  const ColumnEffect& signal = effect_of(first, "signal");
  EXPECT_NE(signal.importance[0].mean, signal.importance[1].mean);
  EXPECT_NE(signal.importance[0].mean, effect_of(second, "signal").importance[0].mean);
  EXPECT_GT(signal.importance[0].spread.value(), 0);
  EXPECT_EQ(signal.curves[0], signal.curves[1]);
  EXPECT_EQ(signal.curves, effect_of(second, "signal").curves);
}

/// What a column means depends on the domain, which the second column tells.
Dataset turned() {
  Dataset data = made(2, 150, Task::classify);
  Matrix x(300, 2);
  const Matrix old = data.x.to_matrix();
  for (Index i = 0; i < 300; ++i) {
    const double sign = data.domain.index[at(i)] == 0 ? 1 : -1;
    x(i, 0) = old(i, 0);
    x(i, 1) = sign;
    data.y->index[at(i)] = x(i, 0) * sign > 0 ? 1 : 0;
  }
  data.schema.columns = {{"turned", ColumnKind::numeric, {}}, {"tells", ColumnKind::numeric, {}}};
  data.x = Features::dense(std::move(x), data.schema.feature_names());
  return data;
}

TEST(ColumnEffects, CurvesThatGoOppositeWaysAreFound) {
  const Context context;
  const Dataset data = turned();
  const ColumnEffects effects = column_effects(fitted("svm C=10", data, context), data, {}, context);
  const auto opposite = opposite_curves(effects);
  ASSERT_EQ(effects.columns[0].column, "turned");
  ASSERT_TRUE(opposite[0]);
  EXPECT_NE(opposite[0]->one, opposite[0]->other);
  const auto rise = [&](std::size_t d) {
    return effects.columns[0].curves[d][0].back() - effects.columns[0].curves[d][0].front();
  };
  EXPECT_GT(rise(0), 1);
  EXPECT_LT(rise(1), -1);
  // Within a domain the other column is constant: shuffling there changes nothing.
  const ColumnEffect& tells = effect_of(effects, "tells");
  EXPECT_EQ(tells.values, (std::vector<double>{-1, 1}));
  for (std::size_t d = 0; d < 2; ++d) EXPECT_EQ(tells.importance[d].mean.value(), 0);
}

TEST(ColumnEffects, AColumnThatMisleadsADomainIsNegativeThere) {
  const Context context;
  Dataset data = turned();
  const std::vector<Index> first = {0};
  data.x = data.x.columns(first, {"turned"}, context);
  data.schema.columns = {{"turned", ColumnKind::numeric, {}}};
  Dataset home = data;
  set_targets(home, {"site1"});
  const ColumnEffects effects = column_effects(fitted("logistic l2=0.01", home, context), data, {}, context);
  const auto& importance = effects.columns[0].importance;
  EXPECT_NEAR(importance[0].mean.value(), 0.5, 0.05);
  EXPECT_NEAR(importance[1].mean.value(), -0.5, 0.05);
  EXPECT_FALSE(importance[0].hurts(5));
  EXPECT_TRUE(importance[1].hurts(5));
}

TEST(ColumnEffects, WithoutLabelsThereAreCurvesAlone) {
  const Context context;
  Dataset data = made(2, 40, Task::classify);
  const Model model = fitted("logistic l2=0.01", data, context);
  const ColumnEffects whole = column_effects(model, data, {}, context);
  for (std::int32_t& label : data.y->index) label = -1;
  const ColumnEffects none = column_effects(model, data, {}, context);
  data.y.reset();
  const ColumnEffects absent = column_effects(model, data, {}, context);
  for (const ColumnEffects* effects : {&none, &absent}) {
    EXPECT_TRUE(effects->metric.empty());
    EXPECT_TRUE(effects->columns[0].importance.empty());
    EXPECT_EQ(effect_of(*effects, "signal").curves, effect_of(whole, "signal").curves);
    EXPECT_GE(swing(effects->columns[0].pooled[0]), swing(effects->columns[1].pooled[0]));
  }
}

TEST(ColumnEffects, OneClassInEveryDomainIsScoredByAccuracy) {
  const Context context;
  Dataset data = made(2, 60, Task::classify);
  const Model model = fitted("logistic l2=0.01", data, context);
  for (Index i = 0; i < data.rows(); ++i) data.y->index[at(i)] = data.domain.index[at(i)];
  const ColumnEffects effects = column_effects(model, data, {}, context);
  EXPECT_EQ(effects.metric, "accuracy");
  EXPECT_TRUE(effects.columns[0].importance[0].mean && effects.columns[0].importance[1].mean);
  // A class that the model never saw is always wrong, whatever is shuffled.
  for (auto& label : data.y->index) label = 2;
  data.y->classes = {"no", "yes", "perhaps"};
  for (const ColumnEffect& effect : column_effects(model, data, {}, context).columns) EXPECT_EQ(effect.mean, 0.0);
}

TEST(ColumnEffects, SeveralClassesHaveACurveEach) {
  const Context context;
  const Dataset data = tiny(2, 60, 3);
  const ColumnEffects effects = column_effects(fitted("softmax l2=0.01", data, context), data, {}, context);
  EXPECT_EQ(effects.scores, data.y->classes);
  EXPECT_EQ(effects.metric, "auroc");
  const auto& pooled = effect_of(effects, "a").pooled;
  ASSERT_EQ(pooled.size(), 3U);
  EXPECT_GT(pooled[2].back(), pooled[2].front());
  EXPECT_LT(pooled[0].back(), pooled[0].front());
}

TEST(ColumnEffects, PointsAreValuesThatOccur) {
  const Context context;
  Dataset data = made(1, 400, Task::regress);
  Matrix x = data.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i) x(i, 1) = static_cast<double>(i % 4) + (i % 100 == 0 ? NAN : 0);
  const std::set<double> occurring(x.col(0).begin(), x.col(0).end());
  data.x = Features::dense(std::move(x), data.x.names());
  const ColumnEffects effects = column_effects(fitted("impute | least_squares", data, context), data, {}, context);
  const std::vector<double>& values = effect_of(effects, "signal").values;
  ASSERT_EQ(values.size(), 33U);
  EXPECT_EQ(values.front(), *occurring.begin());
  EXPECT_EQ(values.back(), *occurring.rbegin());
  for (const double value : values) EXPECT_TRUE(occurring.contains(value));
  EXPECT_EQ(effect_of(effects, "noise").values, (std::vector<double>{0, 1, 2, 3}));
}

TEST(ColumnEffects, AModelThatNeedsTheDomainSeesAllOfIt) {
  const Context context;
  const Dataset data = made(2, 60, Task::classify);
  const Model model = fitted("scale | kpca centre=batch | logistic l2=0.01", data, context);
  ASSERT_TRUE(model.needs_domain_sample());
  const ColumnEffects effects = column_effects(model, data, {}, context);
  EXPECT_EQ(effects.domains[0].scored, 60);
  EXPECT_GT(effect_of(effects, "signal").mean.value(), 0.02);
  // The rows that are not changed keep the domain where it is, so that the curve still goes up.
  for (std::size_t d = 0; d < 2; ++d) EXPECT_GT(swing(effect_of(effects, "signal").curves[d][0]), 0.3);
}

TEST(ColumnEffects, RowsAndColumnsCanBeFewer) {
  const Context context;
  Dataset data = made(2, 100, Task::classify);
  const Model model = fitted("logistic l2=0.01", data, context);
  data.weight = Vector::Ones(200);
  data.weight.head(100).setZero();
  const ColumnEffects effects = column_effects(model, data, {.columns = {"kind"}, .rows = 50}, context);
  ASSERT_EQ(effects.columns.size(), 1U);
  EXPECT_EQ(effects.columns[0].column, "kind");
  EXPECT_EQ(effects.domains[0].scored, 0);
  EXPECT_EQ(effects.domains[0].rows, 100);
  EXPECT_EQ(effects.domains[1].scored, 50);
  EXPECT_FALSE(effects.columns[0].importance[0].mean);
  const Error error = error_of([&] { column_effects(model, data, {.columns = {"signl"}}, context); });
  EXPECT_EQ(error.code(), "unknown_column");
  EXPECT_THAT(error.what(), HasSubstr("'signl'; did you mean 'signal'?"));
  const Error other = error_of([&] { column_effects(model, made(1, 9, Task::regress), {}, context); });
  EXPECT_EQ(other.code(), "bad_label");
}

}  // namespace column_effects_test
}  // namespace ecotone::test
