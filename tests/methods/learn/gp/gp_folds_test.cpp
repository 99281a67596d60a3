#include "ecotone/methods/learn/gp/gp_folds.h"

#include <limits>

#include "ecotone/kernels/bandwidth.h"
#include "ecotone/kernels/distribution_kernel.h"
#include "ecotone/solve/gp/left_out.h"
#include "methods/learn/gp/gp_support.h"

namespace ecotone::test {
namespace gp_folds_test {

/// Domains 1, 2, 3 of different sizes, with weights.
TrainView uneven(Index rows) {
  TrainView view = waves(rows, 4);
  view.weight = Vector::Ones(rows);
  for (Index i = 0; i < rows; ++i) {
    view.domain.index[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % 6 == 0 ? 2 : i % 3 == 0 ? 1 : 0);
    view.weight[i] = 0.5 + static_cast<double>(i % 4);
  }
  return view;
}

/// Refits for every fold.
double naive_error(const TrainView& view, const Kernel& kernel, GpMean mean, const GpParameters& parameters) {
  Vector sum = Vector::Zero(3), weight = sum;
  for (const InnerFold& fold : inner_folds(view, context())) {
    const TrainView part = view_of_rows(view, fold.train);
    GpOptions options{.sigma = {kernel.sigma}, .mean = mean};
    options.amplitude = {parameters.amplitude};
    options.noise = {parameters.noise};
    const Prediction p = fitted(part, options).fitted->predict({view.x.take(fold.held), std::nullopt}, context());
    for (std::size_t i = 0; i < fold.held.size(); ++i) {
      const Index row = fold.held[i], d = view.domain.index[static_cast<std::size_t>(row)];
      const double e = view.y.value[row] - p.value[static_cast<Index>(i)];
      sum[d] += view.weight[row] * e * e;
      weight[d] += view.weight[row];
    }
  }
  return sum.cwiseQuotient(weight).mean();
}

TEST(GpFolds, PickWhatANaiveGridPicks) {
  const TrainView view = uneven(90);
  const Matrix x = view.x.to_matrix();
  for (const GpMean mean : {GpMean::zero, GpMean::average, GpMean::constant, GpMean::linear}) {
    GpFoldProblem problem{view, mean, x, {}, {}, {}};
    for (const double factor : gp_sigma_factors) problem.widths.push_back({factor, 1});
    problem.gram = [](ConstMatrixView rows) -> GpGram {
      return [rows](const GpWidths& w) { return kernel_gram({.sigma = w.sigma}, rows, context()); };
    };
    const GpFoldChoice ours = choose_by_folds(problem, context());
    double best = std::numeric_limits<double>::infinity();
    double best_sigma = 0, best_ratio = 0;
    for (const double sigma : gp_sigma_factors)
      for (const double ratio : gp_noise_ratios) {
        const double error = naive_error(view, {.sigma = sigma}, mean, {sigma, 1, ratio});
        if (error >= best) continue;
        best = error;
        best_sigma = sigma;
        best_ratio = ratio;
      }
    EXPECT_EQ(ours.widths.sigma, best_sigma);
    const GpParameters& p = ours.choice.parameters;
    EXPECT_NEAR(p.noise / p.amplitude / best_ratio, 1, 1e-12);
    EXPECT_NEAR(ours.error / best, 1, 1e-8);
    EXPECT_EQ(ours.choice.evaluations, 30);
    // The amplitude is the best one for this ratio.
    const auto likelihood = [&](double amplitude) {
      const Matrix k = kernel_gram({.sigma = best_sigma}, x, context());
      const GpProblem whole{GpRows(k), view.y.value, x, mean, "gp", {view.weight.data(), 90}};
      return fit_gp(whole, {1, amplitude, best_ratio * amplitude}, context()).log_likelihood;
    };
    EXPECT_GT(likelihood(p.amplitude), likelihood(p.amplitude * 1.01));
    EXPECT_GT(likelihood(p.amplitude), likelihood(p.amplitude * 0.99));
  }
}

TEST(GpFolds, JudgeBehindStagesThatHaveNotSeenTheFold) {
  TrainView view = uneven(72);
  Matrix x = view.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i) x.row(i) *= 1.0 + view.domain.index[at(i)];
  view.x = Features::dense(x);
  for (const std::string before : {"scale", "greedy steps=1 intercept=true"}) {
    const Features seen = fitted(before, view).transform({view.x, view.domain}, context());
    const double median = median_bandwidth(seen, KernelKind::rbf, context()).sigma;
    double best = std::numeric_limits<double>::infinity(), best_sigma = 0, best_noise = 0;
    for (const double factor : gp_sigma_factors)
      for (const double noise : gp_noise_ratios) {
        Vector sum = Vector::Zero(3), weight = sum;
        const std::string learner = fmt::format(" | gp amplitude=1 noise={} sigma={:.17g}", noise, median * factor);
        for (const InnerFold& fold : inner_folds(view, context())) {
          const Model model = fitted(before + learner, view_of_rows(view, fold.train));
          const Prediction p = model.predict({view.x.take(fold.held), std::nullopt}, context());
          for (std::size_t i = 0; i < fold.held.size(); ++i) {
            const Index row = fold.held[i], d = view.domain.index[at(row)];
            sum[d] += view.weight[row] * std::pow(view.y.value[row] - p.value[static_cast<Index>(i)], 2);
            weight[d] += view.weight[row];
          }
        }
        const double error = sum.cwiseQuotient(weight).mean();
        if (error >= best) continue;
        best = error;
        best_sigma = median * factor;
        best_noise = noise;
      }
    const Json stage = fitted(before + " | gp fit=cv", view).inspect().at("stages")[1];
    EXPECT_NEAR(stage.at("sigma").get<double>() / best_sigma, 1, 1e-12) << before;
    EXPECT_NEAR(stage.at("noise").get<double>() / stage.at("amplitude").get<double>() / best_noise, 1, 1e-9) << before;
    EXPECT_EQ(stage.at("status"), fmt::format("mean squared error {:.4g} in domains left out", best)) << before;
    // One scale for all rows is another problem; the same column of two is chosen in every fold.
    TrainView leaking = view;
    leaking.x = seen;
    const Json all = fitted("gp fit=cv", leaking).inspect().at("stages")[0];
    EXPECT_EQ(all.at("status") == stage.at("status"), before != "scale") << before;
  }
}

TEST(GpFolds, RefitStagesOnEveryRoute) {
  const TrainView view = uneven(60);
  for (const std::string learner :
       {"gp fit=cv distributional=true", "gp fit=cv route=low_rank", "gp fit=cv route=low_rank distributional=true"}) {
    Recorder recorder;
    const Model model = fitted("scale | " + learner, view, context().observed_by(&recorder));
    EXPECT_TRUE(recorder.notes.empty()) << learner;
    EXPECT_EQ(model.bytes(), fitted("scale | " + learner, view, context(7)).bytes()) << learner;
    // Candidates are those without a stage before it.
    EXPECT_EQ(model.inspect().at("stages")[1].at("evaluations"),
              fitted(learner, view).inspect().at("stages")[0].at("evaluations"));
  }
}

TEST(GpFolds, KeepWhatIsGiven) {
  const TrainView view = waves(60, 4);
  const StageState noise = fitted(view, {.noise = {0.04}, .fit = GpFitRule::cv}).fitted->save();
  EXPECT_EQ(noise.number("noise"), 0.04);
  const StageState both = fitted(view, {.amplitude = {2.0}, .noise = {0.04}, .fit = GpFitRule::cv}).fitted->save();
  EXPECT_EQ(both.number("amplitude"), 2.0);
  EXPECT_EQ(both.count("evaluations"), 5);
  const StageState width = fitted(view, {.sigma = {1.5}, .amplitude = {2.0}, .fit = GpFitRule::cv}).fitted->save();
  EXPECT_EQ(width.number("sigma"), 1.5);
  EXPECT_EQ(width.number("amplitude"), 2.0);
  EXPECT_EQ(width.count("evaluations"), 6);
}

TEST(GpFolds, ChooseTheWidthOfDomainsToo) {
  const TrainView view = uneven(60);
  GpOptions options{.fit = GpFitRule::cv};
  options.distributional = true;
  EXPECT_EQ(fitted(view, options).fitted->save().count("evaluations"), 5 * 3 * 6);
  options.sigma1 = {0.4};
  const StageState state = fitted(view, options).fitted->save();
  EXPECT_EQ(state.number("sigma1"), 0.4);
  EXPECT_EQ(state.count("evaluations"), 5 * 6);
}

/// Where folds want domains to say nothing of each other, the smallest factor wins, and the floors hold.
TEST(GpFolds, NeverNarrowDomainsBelowTheFloors) {
  TrainView view = waves(120, 4);
  view.domain = dealt_domains(120, 4);
  view.role.assign(4, Role::source);
  // Every domain has the negative of the function of the next one.
  for (Index i = 0; i < 120; ++i) view.y.value[i] *= i % 2 == 0 ? 1 : -1;
  for (const GpRoute route : {GpRoute::exact, GpRoute::low_rank}) {
    GpOptions options{.fit = GpFitRule::cv, .route = route};
    options.distributional = true;
    const StageState state = fitted(view, options).fitted->save();
    const Kernel kernel{.sigma = state.number("sigma")};
    const Matrix x = view.x.to_matrix();
    const DomainWidth width = domain_width(mean_embeddings(kernel, {x, view.domain.index, 4}, context()));
    EXPECT_GE(state.number("sigma1"), 0.999 * std::max(width.sampling, width.share));
  }
}

TEST(GpFolds, NeedTwoRows) {
  const TrainView one = numbers_view(Matrix::Ones(1, 2), Vector::Constant(1, 7.0), 1);
  EXPECT_EQ(code_of([&] { fitted(one, {.amplitude = {1.0}, .fit = GpFitRule::cv}); }), "none");  // a constant label
  const Matrix x = Matrix::Ones(1, 2);
  const GpGram gram = [](const GpWidths&) { return Matrix::Ones(1, 1); };
  const GpFoldProblem problem{one, GpMean::zero, x, {}, {{1, 1}}, [&](ConstMatrixView) { return gram; }};
  EXPECT_EQ(code_of([&] { choose_by_folds(problem, context()); }), "no_cross_fit");
}

}  // namespace gp_folds_test
}  // namespace ecotone::test
