// The golden cases of tests/golden/dica by the low-rank route with as many landmarks as rows, in every scaling.
#include "ecotone/solve/components/low_rank.h"
#include "linalg/support.h"
#include "solve/components/golden.h"

namespace ecotone {
namespace low_rank_golden_test {

class LowRankGolden : public testing::TestWithParam<std::string> {};

Matrix project(const LowRankMap& map, const LowRankComponents& found, const Matrix& rows) {
  Matrix z(rows.rows(), found.theta.cols());
  LowRankProjection(map, found.theta, found.mean, false).project(rows, z);
  return z;
}

void expect_golden(const ComponentsGolden& golden, const std::string& method, ComponentScaling scaling,
                   const LowRankMap& map, const LowRankSums& sums) {
  // Also where the cases allow 1e-6.
  constexpr double tolerance = 1e-9;
  const Context context = with_threads(2);
  const LowRankComponents ours =
      low_rank_components(sums, golden.options(method, scaling), golden.json.at("epsilon"), context);
  const Json& expected = golden.expected(method);
  const std::string what = golden.name + " " + method;
  ASSERT_EQ(ours.spectrum.size(), expected.at("components").get<Index>()) << what;
  EXPECT_EQ(ours.spectrum.complex_pair, expected.at("complex_pair").get<bool>()) << what;
  const double tr_kq = golden.json["expected"]["tr_KQ"];
  EXPECT_NEAR(ours.spectrum.tr_kq, tr_kq, 1e-10 * (1 + tr_kq)) << what;
  const Vector gamma = golden_vector(expected.at("gamma"));
  const double negative = expected.at("gamma_most_negative");
  const double largest = std::max(gamma.size() > 0 ? gamma.cwiseAbs().maxCoeff() : 1.0, -negative);
  if (gamma.size() > 0) {
    EXPECT_LT((ours.spectrum.gamma - gamma).cwiseAbs().maxCoeff(), tolerance * largest) << what;
  }
  EXPECT_NEAR(ours.spectrum.most_negative, negative, tolerance * largest) << what;
  expect_columns(project(map, ours, golden.x), golden_projections(golden, method, "train", scaling), tolerance, what);
  expect_columns(project(map, ours, golden.x_test), golden_projections(golden, method, "test", scaling), tolerance,
                 what + " test");
  if (scaling != ComponentScaling::reference) return;
  const double variance = expected.at("distributional_variance");
  EXPECT_NEAR(ours.spectrum.distributional_variance, variance, tolerance * std::max(1.0, variance)) << what;
}

TEST_P(LowRankGolden, AsManyLandmarksAsRowsAreExact) {
  const ComponentsGolden golden(GetParam());
  const Context context = with_threads(2);
  const Features x = Features::dense(golden.x);
  const LowRankMap map = fit_low_rank(x, golden.kernel, {.rank = golden.x.rows()}, context).map;
  const Matrix y = golden_matrix(golden.json.at("y"));
  const Json& kind = golden.json.at("output_kernel");
  // Classes by their numbers; outputs of the Gaussian kernel by a map of their own.
  std::vector<std::int32_t> classes;
  LowRankMap output_map;
  LowRankOutputs outputs;
  if (kind.at("kind") == "delta") {
    classes = golden_index(golden.json.at("y"));
    outputs = LowRankOutputs::of_classes(classes, 1 + *std::max_element(classes.begin(), classes.end()));
  } else {
    const Kernel kernel{.kind = KernelKind::rbf, .sigma = kind.at("sigma").get<double>()};
    output_map = fit_low_rank(Features::dense(y), kernel, {.kind = LowRankKind::greedy, .rank = y.rows()}, context).map;
    outputs = LowRankOutputs::of_map(output_map, y);
  }
  const LowRankSums sums = gather_low_rank_sums({x, map, golden.group, golden.groups, outputs}, context);
  for (const std::string& method : golden_component_methods())
    for (const auto scaling : {ComponentScaling::reference, ComponentScaling::metric, ComponentScaling::variance})
      expect_golden(golden, method, scaling, map, sums);
}

INSTANTIATE_TEST_SUITE_P(All, LowRankGolden, testing::ValuesIn(golden_component_cases()),
                         [](const auto& test) { return test.param; });

}  // namespace low_rank_golden_test
}  // namespace ecotone
