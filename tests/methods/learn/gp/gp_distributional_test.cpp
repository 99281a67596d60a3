#include <Eigen/Cholesky>

#include "methods/learn/gp/gp_support.h"
#include "solve/components/golden.h"

namespace ecotone::test {
namespace gp_distributional_test {

/// The kernel on domains and rows, eq. (14), in the numbers of 50 digits.
class GpDistributionalGolden : public testing::TestWithParam<std::string> {};

LearnerKernelKind choice_of(KernelKind kind) {
  return static_cast<LearnerKernelKind>(static_cast<int>(kind) + 1);  // auto comes first
}

TEST_P(GpDistributionalGolden, MeanAndVarianceAreThoseOfTheKernel) {
  const ComponentsGolden golden(GetParam());
  const Json& expected = golden.json.at("expected");
  const Matrix k = golden_matrix(expected.at("distributional_kernel"));
  const Matrix cross = golden_matrix(expected.at("distributional_kernel_test"));
  const Index n = golden.x.rows();
  Vector y(n);
  for (Index i = 0; i < n; ++i) y[i] = std::sin(static_cast<double>(i * i)) + 5;
  TrainView view = numbers_view(golden.x, y, golden.groups);
  view.domain.index = golden.group;
  const double size = k.diagonal().mean(), noise = 0.3 * size, amplitude = 1.7;
  GpOptions options{.kernel = choice_of(golden.kernel.kind), .sigma = {golden.kernel.sigma}};
  options.degree = golden.kernel.degree;
  options.coef0 = golden.kernel.coef0;
  options.scale = golden.kernel.scale;
  options.mean = GpMean::average;
  options.amplitude = {amplitude};
  options.noise = {noise};
  options.distributional = true;
  options.sigma1 = {golden.json.at("sigma1").get<double>()};
  const Prediction p = fitted(view, options).fitted->predict({Features::dense(golden.x_test), std::nullopt}, context());
  // m + a k'(a K + noise I)^-1 (y - m)
  const Matrix a = amplitude * k + noise * Matrix::Identity(n, n);
  const Vector residual = y.array() - y.mean();
  const Eigen::LLT<Matrix> factor(a);
  const Vector alpha = factor.solve(residual);
  const Vector mean = (amplitude * cross * alpha).array() + y.mean();
  EXPECT_LT((p.value - mean).cwiseAbs().maxCoeff(), 1e-8);
  const Matrix solved = factor.solve(Matrix(amplitude * cross.transpose()));
  const Vector prior = amplitude * kernel_diagonal(golden.kernel, golden.x_test);
  for (Index i = 0; i < p.variance.size(); ++i) {
    const double truth = prior[i] - amplitude * cross.row(i).dot(solved.col(i)) + noise;
    EXPECT_NEAR(p.variance[i] / truth, 1, 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GpDistributionalGolden, testing::ValuesIn(golden_component_cases()),
                         [](const auto& one_case) { return one_case.param; });

/// Domains whose function depends on where their sample lies: the same x has another y in each.
TrainView moved_domains(Index rows, Index domains, std::uint64_t key) {
  Random random(key, "moved_domains");
  Matrix x(rows, 2);
  Vector y(rows);
  TrainView view = numbers_view(x, y, domains);
  for (Index i = 0; i < rows; ++i) {
    const double place = static_cast<double>(i % domains) / static_cast<double>(domains - 1);
    x.row(i) << random.normal(), 2 * place + random.normal();
    y[i] = std::sin(x(i, 0)) * (1 - 2 * place) + 0.1 * random.normal();
  }
  view.x = Features::dense(x);
  view.y.value = y;
  return view;
}

TEST(GpDistributional, KnowsWhichDomainARowIsOf) {
  const TrainView view = moved_domains(400, 8, 1), fresh = moved_domains(200, 8, 2);
  const auto error = [&](const GpOptions& options, std::optional<Domains> domain) {
    const Prediction p = fitted(view, options).fitted->predict({fresh.x, std::move(domain)}, context());
    return (p.value - fresh.y.value).squaredNorm() / 200;
  };
  const GpOptions pooled;
  GpOptions with = pooled;
  with.distributional = true;
  EXPECT_LT(error(with, fresh.domain), 0.5 * error(pooled, fresh.domain));
  // Without domains all rows are one sample.
  EXPECT_GT(error(with, std::nullopt), 1.5 * error(with, fresh.domain));
}

/// Also after saving and loading, and with two columns for 3, 4 and 6 domains: their means span 2, 2 or all of them.
TEST(GpDistributional, OfFullRankIsTheExactProcess) {
  for (const Index domains : {3, 4, 6})
    for (const LearnerKernelKind kernel :
         {LearnerKernelKind::rbf, LearnerKernelKind::poly, LearnerKernelKind::linear}) {
      const TrainView view = moved_domains(120, domains, 1);
      GpOptions options{.kernel = kernel, .sigma = {1.5}, .amplitude = {1.0}, .noise = {0.1}, .rank = 400};
      options.degree = 2;
      options.distributional = true;
      options.sigma1 = {0.4};
      const auto predicted = [&](GpRoute route, const Batch& batch) {
        options.route = route;
        const StageState state = fitted(view, options).fitted->save();
        return Gp::load(state, options, {2, Task::regress, {}})->predict(batch, context());
      };
      // Training domains lie in the span of the means, so that nothing is outside of it.
      const Batch batch{view.x, view.domain};
      const Prediction exact = predicted(GpRoute::exact, batch), low = predicted(GpRoute::low_rank, batch);
      EXPECT_LT((exact.value - low.value).cwiseAbs().maxCoeff(), 1e-8) << domains;
      EXPECT_LT((exact.variance - low.variance).cwiseAbs().maxCoeff(), 1e-8) << domains;
      const TrainView other = moved_domains(60, domains, 2);
      const Batch fresh{other.x, other.domain};
      const Prediction a = predicted(GpRoute::exact, fresh), b = predicted(GpRoute::low_rank, fresh);
      EXPECT_LT((a.value - b.value).cwiseAbs().maxCoeff(), kernel == LearnerKernelKind::rbf ? 2e-3 : 1e-8) << domains;
    }
}

TEST(GpDistributional, OfLowRankKnowsWhichDomainARowIsOf) {
  const TrainView view = moved_domains(400, 8, 1), fresh = moved_domains(200, 8, 2);
  for (const GpFitRule rule : {GpFitRule::likelihood, GpFitRule::cv}) {
    GpOptions options{.fit = rule, .route = GpRoute::low_rank, .rank = 200};
    options.distributional = true;
    const Prediction p = fitted(view, options).fitted->predict({fresh.x, fresh.domain}, context());
    EXPECT_LT((p.value - fresh.y.value).squaredNorm() / 200, 0.1);
  }
}

TEST(GpDistributional, SaysWhatTheSampleWas) {
  const TrainView view = moved_domains(60, 3, 1);
  GpOptions options;
  options.distributional = true;
  const StageResult result = fitted(view, options);
  Recorder recorder;
  result.fitted->predict({view.x.head(1), std::nullopt}, context().observed_by(&recorder));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "one_row_domain");
}

TEST(GpDistributional, OfOneDomainIsPooling) {
  TrainView view = waves(50, 3);
  view.domain = dealt_domains(50, 1);
  view.role = {Role::source};
  GpOptions options{.sigma = {1.0}, .amplitude = {1.0}, .noise = {0.1}};
  const Batch batch{view.x, std::nullopt};
  const Prediction pooled = fitted(view, options).fitted->predict(batch, context());
  options.distributional = true;
  Recorder recorder;
  const StageResult result = fitted(view, options, context().observed_by(&recorder));
  ASSERT_EQ(recorder.warnings.size(), 1U);
  EXPECT_EQ(recorder.warnings[0].first, "one_domain");
  EXPECT_LT((result.fitted->predict(batch, context()).value - pooled.value).cwiseAbs().maxCoeff(), 1e-10);
}

}  // namespace gp_distributional_test
}  // namespace ecotone::test
