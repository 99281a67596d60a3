// The golden cases of tests/golden/dica by the low-rank route with as many landmarks as rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/solve/low_rank_components.h"

namespace ecotone {
namespace {

Matrix read_matrix(const Json& rows) {
  const auto cols = rows.empty() ? std::size_t{0} : rows.at(0).is_array() ? rows.at(0).size() : std::size_t{1};
  Matrix x(static_cast<Index>(rows.size()), static_cast<Index>(cols));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < cols; ++j)
      x(static_cast<Index>(i), static_cast<Index>(j)) =
          rows[i].is_array() ? rows[i][j].get<double>() : rows[i].get<double>();
  }
  return x;
}

Vector read_vector(const Json& values) {
  const auto all = values.get<std::vector<double>>();
  return Eigen::Map<const Vector>(all.data(), static_cast<Index>(all.size()));
}

/// Numbers of the sorted distinct values.
std::vector<std::int32_t> indices(const Matrix& values, Index& count) {
  std::vector<std::vector<double>> rows;
  for (Index i = 0; i < values.rows(); ++i)
    rows.emplace_back(values.row(i).data(), values.row(i).data() + values.cols());
  auto sorted = rows;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  count = static_cast<Index>(sorted.size());
  std::vector<std::int32_t> result;
  for (const auto& row : rows)
    result.push_back(static_cast<std::int32_t>(std::lower_bound(sorted.begin(), sorted.end(), row) - sorted.begin()));
  return result;
}

Kernel read_kernel(const Json& json) {
  Kernel kernel;
  const auto name = json.at("kind").get<std::string>();
  kernel.kind = name == "rbf"         ? KernelKind::rbf
                : name == "laplacian" ? KernelKind::laplacian
                : name == "linear"    ? KernelKind::linear
                                      : KernelKind::poly;
  kernel.sigma = json.value("sigma", 1.0);
  kernel.degree = json.value("degree", 3);
  kernel.coef0 = json.value("coef0", 1.0);
  kernel.scale = json.value("scale", 1.0);
  return kernel;
}

double relative_error(const Matrix& found, const Matrix& expected) {
  if (found.rows() != expected.rows() || found.cols() != expected.cols()) return 1;
  if (expected.size() == 0) return 0;
  return (found - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
}

/// Columns flipped to the expected signs.
Matrix aligned(Matrix found, const Matrix& expected) {
  for (Index j = 0; j < std::min(found.cols(), expected.cols()); ++j)
    if (found.rows() == expected.rows() && found.col(j).dot(expected.col(j)) < 0) found.col(j) *= -1;
  return found;
}

struct GoldenCase {
  Json json;
  Matrix x, test, y;
  Kernel kernel;
  std::vector<std::int32_t> domain, classes;
  Index domains = 0, class_count = 0;
  Context context{Context::Settings{.threads = 2}};

  explicit GoldenCase(const std::string& name) {
    std::ifstream file(std::filesystem::path(ECOTONE_SOURCE_DIR) / "tests/golden/dica" / (name + ".json"));
    EXPECT_TRUE(file) << name;
    json = Json::parse(file);
    x = read_matrix(json.at("X"));
    test = read_matrix(json.at("Xtest"));
    y = read_matrix(json.at("y"));
    kernel = read_kernel(json.at("kernel"));
    domain = indices(read_matrix(json.at("domain")), domains);
    classes = indices(y, class_count);
  }

  ComponentOptions options(const std::string& method, ComponentScaling scaling) const {
    ComponentOptions result;
    result.supervised = method.starts_with("coir") || method.starts_with("dica");
    result.weight = method.starts_with("udica") || method.starts_with("dica") ? json.value("weight", 1.0) : 0.0;
    result.form = method.ends_with("_symmetric") ? ComponentForm::symmetric : ComponentForm::paper;
    result.lam = json.at("lambda").get<double>();
    result.components = json.at("m").get<Index>();
    result.scaling = scaling;
    return result;
  }
};

class LowRankGolden : public testing::TestWithParam<std::string> {};

TEST_P(LowRankGolden, AsManyLandmarksAsRowsIsExact) {
  const GoldenCase golden(GetParam());
  constexpr double tolerance = 1e-9;
  const Features x = Features::dense(golden.x);
  const LowRankFit fit = fit_low_rank(x, golden.kernel, {.rank = golden.x.rows()}, golden.context);
  const Json& output = golden.json.at("output_kernel");
  LowRankFit output_fit;
  LowRankOutputs outputs;
  if (output.at("kind") == "delta") {
    outputs = LowRankOutputs::of_classes(golden.classes, golden.class_count);
  } else {
    output_fit = fit_low_rank(Features::dense(golden.y), read_kernel(output),
                              {.kind = LowRankKind::greedy, .rank = golden.y.rows()}, golden.context);
    outputs = LowRankOutputs::of_map(output_fit.map, golden.y);
  }
  const LowRankSums sums = gather_low_rank_sums({x, fit.map, golden.domain, golden.domains, outputs}, golden.context);

  for (const auto& [method, expected] : golden.json.at("expected").at("methods").items()) {
    SCOPED_TRACE(method);
    const auto solve = [&](ComponentScaling scaling) {
      return low_rank_components(sums, golden.options(method, scaling), golden.json.at("epsilon").get<double>(),
                                 golden.context);
    };
    const auto project = [&](const LowRankComponents& found, const Matrix& rows) {
      Matrix z(rows.rows(), found.theta.cols());
      LowRankProjection(fit.map, found.theta, found.mean, false).block(rows, z);
      return z;
    };
    const LowRankComponents found = solve(ComponentScaling::reference);
    EXPECT_NEAR(found.spectrum.tr_kq, golden.json.at("expected").at("tr_KQ").get<double>(),
                1e-10 * (1 + found.spectrum.tr_kq));
    ASSERT_EQ(found.spectrum.size(), expected.at("components").get<Index>());
    if (found.spectrum.size() == 0) continue;
    EXPECT_EQ(found.spectrum.complex_pair, expected.at("complex_pair").get<bool>());
    const Vector gamma = read_vector(expected.at("gamma"));
    EXPECT_LT((found.spectrum.gamma - gamma).cwiseAbs().maxCoeff(), tolerance * gamma.cwiseAbs().maxCoeff());
    ASSERT_FALSE(found.spectrum.complex_pair);  // columns would not be defined; no case has a pair
    const Matrix train = read_matrix(expected.at("train"));
    const Matrix test = read_matrix(expected.at("test"));
    EXPECT_LT(relative_error(aligned(project(found, golden.x), train), train), tolerance);
    EXPECT_LT(relative_error(aligned(project(found, golden.test), test), test), tolerance);
    const double variance = expected.at("distributional_variance").get<double>();
    EXPECT_NEAR(found.spectrum.distributional_variance, variance, tolerance * (1 + variance));
    const Matrix metric = train * read_vector(expected.at("factor_to_metric_scaling")).asDiagonal();
    EXPECT_LT(relative_error(aligned(project(solve(ComponentScaling::metric), golden.x), metric), metric), tolerance);
    const Matrix scaled = train * read_vector(expected.at("factor_to_variance_scaling")).asDiagonal();
    EXPECT_LT(relative_error(aligned(project(solve(ComponentScaling::variance), golden.x), scaled), scaled), tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LowRankGolden,
                         testing::Values("basic_rbf_delta", "constant_feature", "duplicate_rows", "huge_offset",
                                         "negative_eigenvalue", "one_domain", "poly_rank_limit", "regression_rbf_rbf",
                                         "tiny_domains", "two_domains_linear"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace ecotone
