#include "ecotone/methods/learn/svm/svm.h"
#include "methods/support.h"

namespace ecotone::test {
namespace svm_distributional_test {

constexpr Index per_domain = 40;

/// Domains along a line; the sign of the second column's effect turns from one end to the other, so no one rule of rows
/// serves all of them.
TrainView turning(Index domains) {
  TrainView view = overlapping(domains * per_domain, 2, 2, domains, 0);
  Random random(5, "turning");
  Matrix x(domains * per_domain, 2);
  for (Index i = 0; i < x.rows(); ++i) {
    const Index d = i / per_domain;
    x.row(i) << static_cast<double>(d) + 0.3 * random.normal(), random.normal();
    view.domain.index[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(d);
    view.y.index[static_cast<std::size_t>(i)] = (x(i, 1) > 0) == (2 * d < domains) ? 1 : 0;
  }
  view.x = Features::dense(std::move(x));
  return view;
}

StageResult fitted(const TrainView& view, const SvmOptions& options, const Context& with = context()) {
  FitCache cache;
  return Svm::fit(view, options, with, cache);
}

Batch all_of(const TrainView& view) { return {view.x, view.domain}; }

std::vector<std::string> codes(const Recorder& recorder) {
  std::vector<std::string> result;
  for (const auto& [code, message] : recorder.warnings) result.push_back(code);
  return result;
}

TEST(SvmDistributional, ScoresAreSumsOfTheKernelOnPairs) {
  const TrainView view = turning(4);
  for (const LearnerKernelKind kernel :
       {LearnerKernelKind::rbf, LearnerKernelKind::laplacian, LearnerKernelKind::linear}) {
    const StageResult result = fitted(view, {.kernel = kernel, .sigma = {1.5}, .distributional = true});
    const StageState state = result.fitted->save();
    const Matrix x = view.x.to_matrix();
    const DomainRows rows{x, view.domain.index, 4};
    const Kernel row_kernel{kernel == LearnerKernelKind::rbf         ? KernelKind::rbf
                            : kernel == LearnerKernelKind::laplacian ? KernelKind::laplacian
                                                                     : KernelKind::linear,
                            1.5};
    const DistributionFit exact = fit_distribution_kernel(row_kernel, rows, 0, context());
    EXPECT_EQ(state.number("sigma1"), exact.width.sigma);
    const std::vector<double> y = [&] {
      std::vector<double> signs;
      for (const std::int32_t k : view.y.index) signs.push_back(k == 1 ? 1 : -1);
      return signs;
    }();
    const Matrix gram = exact.kernel.gram(exact.k1, context());
    const SvmFit direct = fit_svm({.y = y}, gram, context());
    EXPECT_NEAR(state.number("objective"), direct.objective, 2e-4 * std::abs(direct.objective));
    // The stage's own coefficients over the Gram matrix give its scores.
    const Prediction prediction = result.fitted->predict(all_of(view), context());
    const Vector expected = (gram * direct.beta).array() + direct.offset;
    EXPECT_LT((prediction.score.col(0) - expected).cwiseAbs().maxCoeff(), 0.02);
  }
}

TEST(SvmDistributional, KnowsWhichDomainARowCameFrom) {
  // Rows of the two ends overlap when the first column says nothing: only the domain's sample tells them apart.
  TrainView view = turning(2);
  Matrix x = view.x.to_matrix();
  Random random(9, "spread");
  for (Index i = 0; i < x.rows(); ++i) x(i, 0) = 2 * random.normal() + (i < per_domain ? 0 : 1);
  view.x = Features::dense(std::move(x));
  const auto right = [&](bool distributional) {
    const StageResult result =
        fitted(view, {.kernel = LearnerKernelKind::linear, .distributional = distributional, .sigma1 = {0.2}});
    const Prediction prediction = result.fitted->predict(all_of(view), context());
    double sum = 0;
    for (std::size_t i = 0; i < prediction.index.size(); ++i) sum += prediction.index[i] == view.y.index[i] ? 1 : 0;
    return sum / static_cast<double>(prediction.index.size());
  };
  EXPECT_LT(right(false), 0.75);
  EXPECT_GT(right(true), 0.97);
}

TEST(SvmDistributional, IsPoolingWithOneDomain) {
  const TrainView view = overlapping(120, 2, 2, 1, 0);
  Recorder recorder;
  const StageResult with = fitted(view, {.distributional = true}, context().observed_by(&recorder));
  EXPECT_EQ(codes(recorder), std::vector<std::string>{"one_domain"});
  const StageResult without = fitted(view, {});
  const Vector a = with.fitted->predict(all_of(view), context()).score.col(0);
  const Vector b = without.fitted->predict(all_of(view), context()).score.col(0);
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(SvmDistributional, RowsWithoutWeightAreNoPartOfTheSamples) {
  const TrainView view = turning(4);
  TrainView less = view, weighted = view;
  // Half of the rows of every domain, moved away, have no weight.
  Matrix x = view.x.to_matrix();
  std::vector<Index> kept;
  weighted.weight = Vector::Ones(x.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    if (i % 2 == 0) {
      kept.push_back(i);
      continue;
    }
    weighted.weight[i] = 0;
    x.row(i).array() += 5;
  }
  weighted.x = Features::dense(std::move(x));
  less.x = view.x.take(kept);
  less.y = view.y.take(kept);
  less.domain = view.domain.take(kept);
  for (const SvmRoute route : {SvmRoute::exact, SvmRoute::low_rank}) {
    const SvmOptions options{.route = route, .distributional = true};
    const StageResult with = fitted(weighted, options);
    EXPECT_EQ(with.next.labelled(), view.labelled());
    const Vector a = with.fitted->predict(all_of(less), context()).score.col(0);
    const Vector b = fitted(less, options).fitted->predict(all_of(less), context()).score.col(0);
    EXPECT_TRUE(a == b) << (a - b).cwiseAbs().maxCoeff();
  }
}

TEST(SvmDistributional, SaysWhichFloorTheWidthHas) {
  const auto message = [](const DomainWidth& width) {
    Recorder recorder;
    warn_of_training_domains("svm", {"a", "b"}, width, context().observed_by(&recorder));
    EXPECT_EQ(codes(recorder), std::vector<std::string>{"domain_width_floored"});
    return recorder.warnings.empty() ? std::string() : recorder.warnings[0].second;
  };
  const DomainWidth sampling{.sigma = 0.3, .median = 0.1, .sampling = 0.3, .share = 0.2, .floored = true};
  const DomainWidth share{.sigma = 0.3, .median = 0.1, .sampling = 0.05, .share = 0.3, .floored = true};
  EXPECT_NE(message(sampling).find("than samples of one distribution"), std::string::npos);
  EXPECT_EQ(message(share).find("samples"), std::string::npos);
  EXPECT_NE(message(share).find("a quarter of the spread"), std::string::npos);
}

TEST(SvmDistributional, SaysWhatTheSampleOfADomainWas) {
  const TrainView view = turning(4);
  const StageResult result = fitted(view, {.distributional = true});
  EXPECT_TRUE(result.fitted->needs_domain_sample());
  const StageResult narrow = fitted(view, {.distributional = true, .sigma1 = {0.05}});
  const auto told = [](const StageResult& by, Matrix x, const Domains& domains) {
    Recorder recorder;
    by.fitted->predict({Features::dense(std::move(x)), domains}, context().observed_by(&recorder));
    return codes(recorder);
  };
  Matrix row(1, 2);
  row << 1, 1;
  EXPECT_EQ(told(result, row, {{"alone"}, {0}}), std::vector<std::string>{"one_row_domain"});
  Matrix far = Matrix::Constant(30, 2, 1e3);
  EXPECT_EQ(told(narrow, far, {{"far"}, std::vector<std::int32_t>(30, 0)}),
            std::vector<std::string>{"unlike_any_domain"});
  EXPECT_EQ(told(result, view.x.to_matrix(), view.domain), std::vector<std::string>{});
}

TEST(SvmDistributional, TakesTheLinearKernelBehindComponents) {
  TrainView view = turning(3);
  EXPECT_EQ(fitted(view, {.distributional = true}).fitted->save().text("kernel"), "rbf");
  view.kernel_coordinates = true;
  EXPECT_EQ(fitted(view, {.distributional = true}).fitted->save().text("kernel"), "linear");
  EXPECT_EQ(fitted(view, {.kernel = LearnerKernelKind::rbf}).fitted->save().text("kernel"), "rbf");
}

TEST(SvmDistributional, MapsScoresToProbabilities) {
  const TrainView view = turning(5);
  const StageResult result = fitted(view, {.distributional = true, .probability = true});
  const Prediction one = result.fitted->predict(all_of(view), context());
  const Prediction five =
      fitted(view, {.distributional = true, .probability = true}, context(5)).fitted->predict(all_of(view), context(5));
  EXPECT_TRUE(one.probability == five.probability);
  EXPECT_TRUE(one.probability.allFinite());
}

TEST(SvmDistributional, SurvivesSavingAndRefusesHostileStates) {
  const TrainView view = turning(3);
  const SvmOptions options{.distributional = true};
  const StageResult result = fitted(view, options);
  const StageState good = result.fitted->save();
  const StageInput input{2, Task::classify, view.y.classes};
  const auto loaded = Svm::load(good, options, input);
  EXPECT_TRUE(loaded->predict(all_of(view), context()).score == result.fitted->predict(all_of(view), context()).score);
  const auto code = [&](const auto& spoil) {
    StageState state = good;
    spoil(state);
    return code_of([&] { Svm::load(state, options, input); });
  };
  EXPECT_EQ(code([](StageState&) {}), "none");
  EXPECT_EQ(code([](StageState& s) { s.set("domain_rows", Matrix(Matrix::Ones(4, 3))); }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.set("domain_rows", Matrix(Matrix(0, 2))); }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.set("domain_norms", Vector(Vector::Ones(1))); }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.set("domain_norms", Vector(-Vector::Ones(3))); }), "bad_model");
  EXPECT_EQ(code([](StageState& s) {
              Vector d = s.vector("support_domain", -1);
              d[0] = 0.5;
              s.set("support_domain", d);
            }),
            "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.info["sigma1"] = 0.0; }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.info["sigma1"] = -1.0; }), "bad_model");
  EXPECT_EQ(code([](StageState& s) { s.info["kernel"] = "cosine"; }), "bad_model");
}

TEST(SvmDistributional, FitsOfAGridShareTheGramMatrixAndStartWarm) {
  const TrainView view = turning(4);
  FitCache cache(FitCache::Order::in_order);
  for (const bool distributional : {false, true}) {
    for (const double cost : {0.1, 1.0, 3.0, 10.0}) {
      const SvmOptions options{.cost = cost, .tolerance = 1e-6, .distributional = distributional};
      const auto in_grid = [&] { return Svm::fit(view, options, context(), cache).fitted->save(); };
      const StageState shared = in_grid();
      const StageState alone = fitted(view, options).fitted->save();
      EXPECT_NEAR(shared.number("objective"), alone.number("objective"), 1e-6 * std::abs(alone.number("objective")));
      // From the optimum itself next to nothing is left to do; how many steps another cost saves is luck.
      EXPECT_LT(in_grid().number("iterations"), 0.1 * alone.number("iterations"));
    }
  }
}

}  // namespace svm_distributional_test
}  // namespace ecotone::test
