#include "ecotone/methods/learn/gp/gp.h"

#include <filesystem>
#include <fstream>
#include <numbers>

#include "methods/learn/gp/gp_support.h"
#include "solve/components/golden.h"
#include "source_dir.h"

namespace ecotone::test {
namespace gp_test {

TEST(GpStage, AgreesWithScikitLearn) {
  std::ifstream file(source_dir() / "tests/golden/gp/cases.json");
  ASSERT_TRUE(file);
  int cases = 0;
  for (const Json& golden : Json::parse(file)) {
    const Matrix x = golden_matrix(golden.at("x")), y = golden_matrix(golden.at("y")),
                 z = golden_matrix(golden.at("z")), mean = golden_matrix(golden.at("mean"));
    const Vector variance = golden_vector(golden.at("variance"));
    const Json& kernel = golden.at("kernel");
    const double noise = golden.at("noise");
    const std::map<std::string, LearnerKernelKind> kinds{{"rbf", LearnerKernelKind::rbf},
                                                         {"laplacian", LearnerKernelKind::laplacian},
                                                         {"poly", LearnerKernelKind::poly}};
    GpOptions options{.kernel = kinds.at(kernel.at("kind")), .sigma = {kernel.value("sigma", 1.0)}};
    options.degree = kernel.value("degree", 3);
    options.coef0 = kernel.value("coef0", 1.0);
    options.mean = GpMean::average;
    options.amplitude = {golden.at("amplitude").get<double>()};
    options.noise = {noise};
    for (Index j = 0; j < y.cols(); ++j, ++cases) {
      const TrainView view = numbers_view(x, y.col(j), 2);
      const StageResult result = fitted(view, options);
      const Prediction prediction = result.fitted->predict({Features::dense(z), std::nullopt}, context());
      EXPECT_EQ(prediction.task, Task::regress);
      EXPECT_LT((prediction.value - mean.col(j)).cwiseAbs().maxCoeff(), 1e-8);
      EXPECT_LT((prediction.variance.array() - noise - variance.array()).abs().maxCoeff(), 1e-8);
      if (y.cols() == 1) {
        EXPECT_NEAR(result.fitted->save().number("log_likelihood"), golden.at("log_likelihood").get<double>(), 1e-8);
      }
    }
  }
  EXPECT_EQ(cases, 4);
}

TEST(GpStage, FindsTheLikelihoodOfManyStarts) {
  std::ifstream file(source_dir() / "tests/golden/gp/cases.json");
  const Json golden = Json::parse(file).at(0);
  const TrainView view = numbers_view(golden_matrix(golden.at("x")), golden_matrix(golden.at("y")).col(0), 2);
  const StageResult result = fitted(view, {.mean = GpMean::average});
  EXPECT_TRUE(result.status.converged);
  EXPECT_NEAR(result.fitted->save().number("log_likelihood"), golden.at("best_log_likelihood").get<double>(), 1e-5);
}

TEST(GpStage, KeepsWhatIsGivenAndSearchesTheRest) {
  const TrainView view = waves(150, 2);
  const StageState all = fitted(view, {}).fitted->save();
  const StageState some = fitted(view, {.sigma = {0.9}, .noise = {0.07}}).fitted->save();
  EXPECT_EQ(some.number("sigma"), 0.9);
  EXPECT_EQ(some.number("noise"), 0.07);
  EXPECT_GT(all.number("log_likelihood"), some.number("log_likelihood"));
  // The amplitude is the best for these: others have a smaller likelihood.
  for (const double factor : {0.9, 1.1}) {
    const double amplitude = some.number("amplitude") * factor;
    const StageState other = fitted(view, {.sigma = {0.9}, .amplitude = {amplitude}, .noise = {0.07}}).fitted->save();
    EXPECT_LT(other.number("log_likelihood"), some.number("log_likelihood"));
  }
}

TEST(GpStage, TakesAMapOfManyRowsUnasked) {
  const GpOptions options{.sigma = {0.9}, .amplitude = {1}, .noise = {0.1}, .rank = 30};
  EXPECT_EQ(fitted(waves(2001, 2), options).fitted->save().text("route"), "low_rank");
  EXPECT_EQ(fitted(waves(300, 2), options).fitted->save().text("route"), "exact");
}

TEST(GpStage, IntervalsOfNinetyFivePercentCoverThatManyLabels) {
  // Rows of one draw of a process; half of them are new.
  const Context with = context();
  const Index n = 800;
  Random random(5, "gp_coverage");
  Matrix x(n, 2), white(n, 1), noise(n, 1);
  for (Index i = 0; i < n; ++i) {
    x.row(i) << random.uniform(-3, 3), random.uniform(-3, 3);
    white(i, 0) = random.normal();
    noise(i, 0) = random.normal();
  }
  Matrix k = kernel_gram({.sigma = 1}, x, with);
  k.diagonal().array() += 1e-8;
  const auto factor = Cholesky::factor(std::move(k), with);
  ASSERT_TRUE(factor);
  const Vector y = (1.5 * factor->lower() * white + 0.3 * noise).array() + 20;
  for (const GpMean mean : {GpMean::average, GpMean::constant, GpMean::linear}) {
    const StageResult result = fitted(numbers_view(x.topRows(400), y.head(400), 3), {.mean = mean});
    const Prediction p = result.fitted->predict({Features::dense(x.bottomRows(400)), std::nullopt}, with);
    double inside = 0;
    for (Index i = 0; i < 400; ++i) inside += std::abs(p.value[i] - y[400 + i]) <= 1.96 * std::sqrt(p.variance[i]);
    EXPECT_GE(inside / 400, 0.90);
    EXPECT_LE(inside / 400, 0.98);
  }
}

TEST(GpStage, AWeightOfTwoIsARowTwice) {
  const TrainView once = waves(60, 2);
  TrainView weighted = once;
  weighted.weight = Vector::Ones(60);
  std::vector<Index> rows;
  for (Index i = 0; i < 60; ++i) {
    const int times = i % 7 == 1 ? 0 : i % 3 == 0 ? 2 : 1;
    weighted.weight[i] = times;
    rows.insert(rows.end(), static_cast<std::size_t>(times), i);
  }
  const TrainView twice = view_of_rows(once, rows);
  for (const GpRoute route : {GpRoute::exact, GpRoute::low_rank})
    for (const GpMean mean : {GpMean::zero, GpMean::average, GpMean::constant, GpMean::linear}) {
      GpOptions options{.sigma = {1.2}, .mean = mean, .amplitude = {1.3}, .noise = {0.2}, .route = route};
      const Batch fresh{waves(40, 9).x, std::nullopt};
      const Prediction a = fitted(weighted, options).fitted->predict(fresh, context());
      const Prediction b = fitted(twice, options).fitted->predict(fresh, context());
      const double tolerance = route == GpRoute::exact ? 1e-9 : 1e-6;
      EXPECT_LT((a.value - b.value).cwiseAbs().maxCoeff(), tolerance);
      EXPECT_LT((a.variance - b.variance).cwiseAbs().maxCoeff(), tolerance);
      EXPECT_GT((a.value - fitted(once, options).fitted->predict(fresh, context()).value).cwiseAbs().maxCoeff(), 1e-3);
    }
}

TEST(GpStage, SameBytesForAnyNumberOfThreads) {
  const TrainView view = waves(300, 2);
  const Batch fresh{waves(40, 9).x, dealt_domains(40, 2)};
  for (const bool distributional : {false, true})
    for (const GpRoute route : {GpRoute::exact, GpRoute::low_rank})
      for (const GpFitRule rule : {GpFitRule::likelihood, GpFitRule::cv}) {
        GpOptions options{.sigma = {1.5}, .fit = rule, .route = route, .rank = 50};
        options.distributional = distributional;
        const Prediction one = fitted(view, options, context(1)).fitted->predict(fresh, context(1));
        for (const int threads : {2, 7}) {
          const Prediction more = fitted(view, options, context(threads)).fitted->predict(fresh, context(threads));
          EXPECT_TRUE(same_bytes(one.value, more.value));
          EXPECT_TRUE(same_bytes(one.variance, more.variance));
        }
      }
}

TEST(GpStage, LeavesTheVarianceOutWhereItIsNotWanted) {
  const TrainView view = waves(60, 2);
  const Batch fresh{waves(10, 9).x, std::nullopt};
  for (const GpRoute route : {GpRoute::exact, GpRoute::low_rank}) {
    const StageResult with = fitted(view, {.route = route});
    const StageResult without = fitted(view, {.route = route, .variance = false});
    const Prediction a = with.fitted->predict(fresh, context()), b = without.fitted->predict(fresh, context());
    EXPECT_TRUE(same_bytes(a.value, b.value));
    EXPECT_EQ(a.variance.size(), 10);
    EXPECT_GT(a.variance.minCoeff(), 0);
    EXPECT_EQ(b.variance.size(), 0);
    EXPECT_TRUE(with.fitted->save().has("factor"));
    EXPECT_FALSE(without.fitted->save().has("factor"));
  }
}

TEST(GpStage, HardLabelsAndRows) {
  const Batch fresh{waves(10, 9).x, std::nullopt};
  Recorder recorder;
  const Context with = context().observed_by(&recorder);
  // One row: nothing but its label is known.
  const TrainView one = numbers_view(Matrix::Ones(1, 2), Vector::Constant(1, 7.0), 1);
  EXPECT_NEAR(fitted(one, {}, with).fitted->predict(fresh, context()).value[0], 7, 1e-9);
  // One number.
  TrainView constant = waves(30, 2);
  constant.y.value.setConstant(-1e9);
  const Prediction flat = fitted(constant, {}, with).fitted->predict(fresh, context());
  EXPECT_LT((flat.value.array() + 1e9).abs().maxCoeff(), 1e-6);
  ASSERT_GE(recorder.warnings.size(), 2U);
  for (const auto& [code, message] : recorder.warnings) EXPECT_EQ(code, "constant_label") << message;
  // With a mean of zero they are not that number, and it is not said that they are.
  fitted(constant, {.mean = GpMean::zero}, with);
  EXPECT_EQ(recorder.warnings.back().first, "constant_label");
  EXPECT_NE(recorder.warnings.back().second.find("between 0 and this number"), std::string::npos);
  // Every row twice.
  const TrainView view = waves(60, 2);
  std::vector<Index> rows;
  for (Index i = 0; i < 60; ++i) rows.insert(rows.end(), {i, i});
  const GpOptions noiseless{.sigma = {1.0}, .amplitude = {1.0}, .noise = {0.0}};
  const StageResult twice = fitted(view_of_rows(view, rows), noiseless, with);
  EXPECT_GT(twice.fitted->save().number("jitter"), 0);
  EXPECT_EQ(recorder.warnings.back().first, "jitter");
  const auto searched = [&] { fitted(view_of_rows(view, rows), {.noise = {0.0}}); };
  EXPECT_EQ(code_of(searched), "not_positive_definite");
  EXPECT_TRUE(message_of(searched).ends_with("set noise > 0")) << message_of(searched);
  EXPECT_LT((twice.fitted->predict({view.x, std::nullopt}, context()).value - view.y.value).cwiseAbs().maxCoeff(),
            1e-2);
  // A huge offset of the labels moves the answer and nothing else.
  TrainView far = view;
  far.y.value.array() += 1e9;
  for (const GpMean mean : {GpMean::average, GpMean::constant, GpMean::linear})
    for (const GpRoute route : {GpRoute::exact, GpRoute::low_rank}) {
      const GpOptions options{.sigma = {1.0}, .mean = mean, .amplitude = {1.0}, .noise = {0.1}, .route = route};
      const Prediction a = fitted(view, options).fitted->predict(fresh, context());
      const Prediction b = fitted(far, options).fitted->predict(fresh, context());
      EXPECT_LT((b.value.array() - 1e9 - a.value.array()).abs().maxCoeff(), 1e-5);
      EXPECT_LT((b.variance - a.variance).cwiseAbs().maxCoeff(), 1e-8);
    }
}

TEST(GpStage, RefusesWhatItCannotFit) {
  TrainView view = waves(30, 2);
  EXPECT_EQ(code_of([&] { fitted(view, {.noise = {0.0}, .route = GpRoute::low_rank}); }), "bad_option");
  view.weight = Vector::Zero(30);
  EXPECT_EQ(code_of([&] { fitted(view, {}); }), "zero_weights");
  const TrainView wide = numbers_view(Matrix::Random(5, 6), Vector::Random(5), 1);
  for (const GpRoute route : {GpRoute::exact, GpRoute::low_rank})
    EXPECT_EQ(code_of([&] { fitted(wide, {.sigma = {1.0}, .mean = GpMean::linear, .route = route}); }), "too_few_rows");
  const StageResult result = fitted(waves(30, 2), {.kernel = LearnerKernelKind::poly});
  const Batch huge{Features::dense(Matrix::Constant(1, 2, 1e150)), std::nullopt};
  EXPECT_EQ(code_of([&] { result.fitted->predict(huge, context()); }), "non_finite");
}

}  // namespace gp_test
}  // namespace ecotone::test
