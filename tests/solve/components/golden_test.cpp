// The golden cases of tests/golden/dica by every exact route that applies, in every scaling.
#include "solve/components/golden.h"

#include "ecotone/solve/components/exact.h"
#include "linalg/support.h"

namespace ecotone {
namespace components_golden_test {

class ComponentsGoldenTest : public testing::TestWithParam<std::string> {};

ExactComponents solve(const ComponentsGolden& golden, const ComponentOptions& options, ExactRoute route) {
  const Context context = with_threads(2);
  const OutputFactor output = golden.output(context);
  const ComponentProblem problem{
      .x = {golden.x.data(), golden.x.rows(), golden.x.cols(), Eigen::OuterStride<>(golden.x.cols())},
      .kernel = golden.kernel,
      .group = golden.group,
      .groups = golden.groups,
      .output = &output,
      .epsilon = golden.json.at("epsilon")};
  return exact_components(problem, options, route, context);
}

void expect_golden(const ComponentsGolden& golden, const std::string& method, ComponentScaling scaling,
                   ExactRoute route) {
  const ComponentOptions options = golden.options(method, scaling);
  if (!route_applies(options, route)) return;
  const ExactComponents ours = solve(golden, options, route);
  const Json& expected = golden.expected(method);
  const std::string what = golden.name + " " + method + (route == ExactRoute::cholesky ? " cholesky" : " matvec");
  ASSERT_EQ(ours.spectrum.size(), expected.at("components").get<Index>()) << what;
  EXPECT_EQ(ours.spectrum.complex_pair, expected.at("complex_pair").get<bool>()) << what;
  EXPECT_NEAR(ours.spectrum.tr_kq, golden.json["expected"]["tr_KQ"].get<double>(), 1e-10) << what;
  const Vector gamma = golden_vector(expected.at("gamma"));
  const double largest =
      std::max(gamma.size() > 0 ? gamma.cwiseAbs().maxCoeff() : 1.0, -expected.at("gamma_most_negative").get<double>());
  if (gamma.size() > 0) {
    EXPECT_LT((ours.spectrum.gamma - gamma).cwiseAbs().maxCoeff(), golden.tolerance * largest) << what;
  }
  EXPECT_NEAR(ours.spectrum.most_negative, expected.at("gamma_most_negative").get<double>(), golden.tolerance * largest)
      << what;
  expect_columns(ours.projections, golden_projections(golden, method, "train", scaling), golden.tolerance, what);
  Matrix test(golden.x_test.rows(), ours.map.size());
  ours.map.project(golden.x_test, test);
  expect_columns(test, golden_projections(golden, method, "test", scaling), golden.tolerance, what + " test");
  if (scaling == ComponentScaling::reference) {
    const double variance = expected.at("distributional_variance");
    EXPECT_NEAR(ours.spectrum.distributional_variance, variance, golden.tolerance * std::max(1e-3, std::abs(variance)))
        << what;
  }
  Matrix again(golden.x.rows(), ours.map.size());
  ours.map.project(golden.x, again);
  expect_columns(again, ours.projections, golden.tolerance, what + " training rows as new ones");
}

TEST_P(ComponentsGoldenTest, EveryMethodByEveryRouteInEveryScaling) {
  const ComponentsGolden golden(GetParam());
  for (const std::string& method : golden_component_methods())
    for (const auto scaling : {ComponentScaling::reference, ComponentScaling::metric, ComponentScaling::variance})
      for (const auto route : {ExactRoute::cholesky, ExactRoute::matvec}) expect_golden(golden, method, scaling, route);
}

INSTANTIATE_TEST_SUITE_P(Golden, ComponentsGoldenTest, testing::ValuesIn(golden_component_cases()),
                         [](const auto& golden) { return golden.param; });

}  // namespace components_golden_test
}  // namespace ecotone
