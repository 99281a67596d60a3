#include "ecotone/methods/learn/svm/svm_low_rank.h"

#include <algorithm>

#include "methods/support.h"

namespace ecotone::test {
namespace svm_low_rank_test {

/// Domains along a line, and a circle around each within which the class is another.
TrainView circles(Index rows, Index domains) {
  TrainView view = overlapping(rows, 2, 2, domains, 0);
  Random random(5, "circles");
  Matrix x(rows, 2);
  for (Index i = 0; i < rows; ++i) {
    const std::int32_t d = view.domain.index[static_cast<std::size_t>(i)];
    x.row(i) << random.normal(), random.normal();
    view.y.index[static_cast<std::size_t>(i)] = x.row(i).norm() < 1.1 ? 1 : 0;
    x(i, 0) += 0.8 * d;
  }
  view.x = Features::dense(std::move(x));
  return view;
}

StageResult fitted(const TrainView& view, const SvmOptions& options, const Context& with = context()) {
  FitCache cache;
  return Svm::fit(view, options, with, cache);
}

Batch all_of(const TrainView& view) { return {view.x, view.domain}; }

Vector scores(const TrainView& view, const SvmOptions& options, const Batch& batch) {
  return fitted(view, options).fitted->predict(batch, context()).score.col(0);
}

TEST(SvmLowRank, OfFullRankIsTheExactMachine) {
  const TrainView view = circles(240, 3);
  TrainView other = circles(200, 2);
  for (const LearnerKernelKind kernel : {LearnerKernelKind::rbf, LearnerKernelKind::poly, LearnerKernelKind::linear}) {
    for (const bool distributional : {false, true}) {
      SvmOptions options{.kernel = kernel, .sigma = {1.5}, .degree = 2, .tolerance = 1e-5};
      options.rank = 800;
      options.distributional = distributional;
      options.route = SvmRoute::exact;
      const Vector exact = scores(view, options, all_of(view)), exact_new = scores(view, options, all_of(other));
      options.route = SvmRoute::low_rank;
      const Vector ours = scores(view, options, all_of(view)), ours_new = scores(view, options, all_of(other));
      const double slack = 0.01 * exact.cwiseAbs().maxCoeff();
      EXPECT_LT((ours - exact).cwiseAbs().maxCoeff(), slack) << static_cast<int>(kernel) << distributional;
      EXPECT_LT((ours_new - exact_new).cwiseAbs().maxCoeff(), slack) << static_cast<int>(kernel) << distributional;
    }
  }
}

TEST(SvmLowRank, TakesTheRouteThatOptionsAndSizesAskFor) {
  const Kernel linear{.kind = KernelKind::linear}, rbf;
  const SvmOptions any{}, exact{.route = SvmRoute::exact}, low{.route = SvmRoute::low_rank};
  EXPECT_EQ(svm_plan(any, rbf, 50'000, 5), SvmPlan::exact);
  EXPECT_EQ(svm_plan(any, rbf, 50'001, 5), SvmPlan::low_rank);
  EXPECT_EQ(svm_plan(any, linear, 999, 5), SvmPlan::exact);
  EXPECT_EQ(svm_plan(any, linear, 1000, 5), SvmPlan::linear);
  EXPECT_EQ(svm_plan(any, linear, 1000, 251), SvmPlan::exact);
  EXPECT_EQ(svm_plan(any, linear, 50'000, 1001), SvmPlan::exact);
  EXPECT_EQ(svm_plan(any, linear, 50'001, 1001), SvmPlan::low_rank);
  EXPECT_EQ(svm_plan(exact, rbf, 1'000'000, 5), SvmPlan::exact);
  EXPECT_EQ(svm_plan(exact, linear, 1'000'000, 5), SvmPlan::exact);
  EXPECT_EQ(svm_plan(low, rbf, 10, 5), SvmPlan::low_rank);
  EXPECT_EQ(svm_plan(low, linear, 10, 5), SvmPlan::linear);
  EXPECT_EQ(svm_plan({.route = SvmRoute::low_rank, .distributional = true}, linear, 10, 5), SvmPlan::low_rank);
}

TEST(SvmLowRank, LearnsNumbersByWeightsOfColumns) {
  TrainView view = circles(1200, 3);
  const Matrix x = view.x.to_matrix();
  view.y = {Task::regress, {}, {}, Vector(3 + x.col(0).array() - 2 * x.col(1).array())};
  const StageResult result = fitted(view, {.kernel = LearnerKernelKind::linear, .epsilon = 0.01});
  const StageState state = result.fitted->save();
  EXPECT_EQ(state.text("route"), "linear");
  EXPECT_NEAR(state.vector("weights", 2)[1], -2, 0.02);
  const Vector value = result.fitted->predict(all_of(view), context()).value;
  EXPECT_LT((value - view.y.value).cwiseAbs().maxCoeff(), 0.05);
}

TEST(SvmLowRank, SameBytesForAnyNumberOfThreadsWithProbabilities) {
  const TrainView view = circles(1500, 4);
  for (const bool distributional : {false, true}) {
    SvmOptions options{.route = SvmRoute::low_rank, .rank = 30, .distributional = distributional, .probability = true};
    Matrix first;
    for (const int threads : {1, 2, 7}) {
      const StageResult result = fitted(view, options, context(threads));
      const Matrix probability = result.fitted->predict(all_of(view), context(threads)).probability;
      EXPECT_TRUE(probability.allFinite());
      if (threads == 1) first = probability;
      EXPECT_TRUE(same_bytes(probability, first)) << threads;
    }
  }
}

TEST(SvmLowRank, SaysWhenTheMapIsRoughAndWhatTheSampleOfADomainWas) {
  const TrainView view = circles(400, 4);
  Recorder recorder;
  const StageResult result =
      fitted(view, {.sigma = {0.1}, .route = SvmRoute::low_rank, .rank = 10, .distributional = true},
             context().observed_by(&recorder));
  EXPECT_EQ(std::count_if(recorder.warnings.begin(), recorder.warnings.end(),
                          [](const auto& warning) { return warning.first == "rough_map"; }),
            1);
  EXPECT_TRUE(result.fitted->needs_domain_sample());
  Recorder alone;
  result.fitted->predict({view.x.take(std::vector<Index>{0}), Domains{{"alone"}, {0}}}, context().observed_by(&alone));
  ASSERT_FALSE(alone.warnings.empty());
  EXPECT_EQ(alone.warnings[0].first, "one_row_domain");
  EXPECT_GT(result.fitted->save().number("residual"), 0.1);
}

TEST(SvmLowRank, SurvivesSavingAndRefusesHostileStates) {
  const TrainView view = circles(300, 3);
  const StageInput input{2, Task::classify, view.y.classes};
  for (const LearnerKernelKind kernel :
       {LearnerKernelKind::rbf, LearnerKernelKind::laplacian, LearnerKernelKind::linear}) {
    for (const bool distributional : {false, true}) {
      const SvmOptions options{.kernel = kernel,
                               .route = SvmRoute::low_rank,
                               .rank = 12,
                               .distributional = distributional,
                               .probability = true};
      const StageResult result = fitted(view, options);
      const StageState good = result.fitted->save();
      const auto loaded = Svm::load(good, options, input);
      EXPECT_EQ(loaded->needs_domain_sample(), distributional);
      EXPECT_TRUE(same_bytes(loaded->predict(all_of(view), context()), result.fitted->predict(all_of(view), context())))
          << static_cast<int>(kernel) << distributional;
      const StageState again = loaded->save();
      EXPECT_EQ(again.info, good.info);
      ASSERT_EQ(again.arrays().size(), good.arrays().size());
      for (const auto& [name, array] : good.arrays()) EXPECT_EQ(again.arrays().at(name).values, array.values) << name;

      // Every array of another shape, or absent.
      for (const auto& [name, array] : good.arrays()) {
        StageState state;
        state.info = good.info;
        for (const auto& [other, values] : good.arrays())
          if (other != name) state.set(other, values);
        // The linear kernel may have no landmarks of rows; then the weights are of another number.
        EXPECT_EQ(code_of([&] { Svm::load(state, options, input); }), "bad_model") << name;
        state.set(name, Matrix(Matrix::Ones(1, 1)));
        EXPECT_EQ(code_of([&] { Svm::load(state, options, input); }), "bad_model") << name;
      }
      for (const char* name : {"route", "offset", "gap", "sigma", "kernel"}) {
        StageState state = good;
        state.info[name] = "cosine";
        EXPECT_EQ(code_of([&] { Svm::load(state, options, input); }), "bad_model") << name;
      }
      SvmOptions exact = options;
      exact.route = SvmRoute::exact;
      EXPECT_EQ(code_of([&] { Svm::load(good, exact, input); }), "bad_model");
      if (!distributional) continue;
      for (const double sigma1 : {0.0, -1.0}) {
        StageState state = good;
        state.info["sigma1"] = sigma1;
        EXPECT_EQ(code_of([&] { Svm::load(state, options, input); }), "bad_model");
      }
    }
  }
  const StageState pairs = fitted(view, {.route = SvmRoute::exact}).fitted->save();
  EXPECT_EQ(code_of([&] { Svm::load(pairs, {.route = SvmRoute::low_rank}, input); }), "bad_model");
}

}  // namespace svm_low_rank_test
}  // namespace ecotone::test
