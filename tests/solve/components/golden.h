#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/components/components.h"
#include "source_dir.h"

/// The golden cases of tests/golden/dica.
namespace ecotone {

inline Matrix golden_matrix(const Json& rows) {
  const bool nested = !rows.empty() && rows.at(0).is_array();
  Matrix m(static_cast<Index>(rows.size()), nested ? static_cast<Index>(rows.at(0).size()) : 1);
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j) {
      const Json& row = rows[static_cast<std::size_t>(i)];
      m(i, j) = (nested ? row[static_cast<std::size_t>(j)] : row).get<double>();
    }
  return m;
}

inline Vector golden_vector(const Json& values) {
  const auto v = values.get<std::vector<double>>();
  return Eigen::Map<const Vector>(v.data(), static_cast<Index>(v.size()));
}

/// 0, 1, ... by rising value.
inline std::vector<std::int32_t> golden_index(const Json& values) {
  const auto v = values.get<std::vector<double>>();
  std::map<double, std::int32_t> order;
  for (const double x : v) order[x] = 0;
  std::int32_t next = 0;
  for (auto& [value, index] : order) index = next++;
  std::vector<std::int32_t> result;
  for (const double x : v) result.push_back(order[x]);
  return result;
}

struct ComponentsGolden {
  std::string name;
  Json json;
  Matrix x, x_test;
  Kernel kernel;
  std::vector<std::int32_t> group;
  Index groups = 0;
  double tolerance = 1e-9;

  explicit ComponentsGolden(const std::string& of) : name(of) {
    std::ifstream file(source_dir() / "tests/golden/dica" / (of + ".json"));
    EXPECT_TRUE(file) << of;
    json = Json::parse(file);
    x = golden_matrix(json.at("X"));
    x_test = golden_matrix(json.at("Xtest"));
    group = golden_index(json.at("domain"));
    groups = 1 + *std::max_element(group.begin(), group.end());
    const Json& k = json.at("kernel");
    const std::map<std::string, KernelKind> kinds{{"rbf", KernelKind::rbf},
                                                  {"laplacian", KernelKind::laplacian},
                                                  {"linear", KernelKind::linear},
                                                  {"poly", KernelKind::poly}};
    kernel = {kinds.at(k.at("kind")), k.value("sigma", 1.0), k.value("degree", 3), k.value("coef0", 1.0),
              k.value("scale", 1.0)};
    if (of == "negative_eigenvalue") tolerance = 1e-6;
  }

  OutputFactor output(const Context& context) const {
    const Json& kind = json.at("output_kernel");
    if (kind.at("kind") == "rbf") return rbf_output(golden_matrix(json.at("y")), kind.at("sigma"), context);
    const auto classes = golden_index(json.at("y"));
    return delta_output(classes, 1 + *std::max_element(classes.begin(), classes.end()));
  }

  /// Options of one of the methods; kpca, udica, coir, dica, coir_symmetric, dica_symmetric.
  ComponentOptions options(const std::string& method, ComponentScaling scaling) const {
    return {.supervised = method.starts_with("coir") || method.starts_with("dica"),
            .weight = method == "udica" || method.starts_with("dica") ? json.at("weight").get<double>() : 0,
            .lam = json.at("lambda"),
            .form = method.ends_with("symmetric") ? ComponentForm::symmetric : ComponentForm::paper,
            .scaling = scaling,
            .components = json.at("m")};
  }

  const Json& expected(const std::string& method) const { return json.at("expected").at("methods").at(method); }
};

inline const std::vector<std::string>& golden_component_cases() {
  static const std::vector<std::string> names{
      "basic_rbf_delta", "constant_feature", "duplicate_rows",     "huge_offset",  "negative_eigenvalue",
      "one_domain",      "poly_rank_limit",  "regression_rbf_rbf", "tiny_domains", "two_domains_linear"};
  return names;
}

inline const std::vector<std::string>& golden_component_methods() {
  static const std::vector<std::string> names{"kpca", "udica", "coir", "dica", "coir_symmetric", "dica_symmetric"};
  return names;
}

/// Columns up to sign, relative to the largest entry.
inline void expect_columns(const Matrix& ours, Matrix expected, double tolerance, const std::string& what) {
  ASSERT_EQ(ours.rows(), expected.rows()) << what;
  ASSERT_EQ(ours.cols(), expected.cols()) << what;
  if (expected.size() == 0) return;
  const double scale = expected.cwiseAbs().maxCoeff();
  for (Index j = 0; j < expected.cols(); ++j) {
    if (ours.col(j).dot(expected.col(j)) < 0) expected.col(j) *= -1;
    EXPECT_LT((ours.col(j) - expected.col(j)).cwiseAbs().maxCoeff(), tolerance * scale) << what << " column " << j;
  }
}

inline Matrix empty_or(const Json& rows, Index count) {
  return rows.empty() || rows.at(0).empty() ? Matrix(count, 0) : golden_matrix(rows);
}

/// Expected training or test projections in a scaling.
inline Matrix golden_projections(const ComponentsGolden& golden, const std::string& method, const std::string& part,
                                 ComponentScaling scaling) {
  const Json& expected = golden.expected(method);
  Matrix z = empty_or(expected.at(part), part == "train" ? golden.x.rows() : golden.x_test.rows());
  if (scaling == ComponentScaling::reference || z.cols() == 0) return z;
  const std::string factor =
      scaling == ComponentScaling::metric ? "factor_to_metric_scaling" : "factor_to_variance_scaling";
  return z * golden_vector(expected.at(factor)).asDiagonal();
}

}  // namespace ecotone
