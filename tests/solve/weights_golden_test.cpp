// The golden case 08_importance_weights: importance weights, their shapes, weighted and joint fits.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/weights.h"
#include "ecotone/solve/density_ratio.h"
#include "ecotone/solve/gaussian_ratio.h"
#include "ecotone/solve/joint.h"
#include "ecotone/solve/knn_ratio.h"

namespace ecotone {
namespace {

Matrix read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<double> values;
  Index rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) values.push_back(std::stod(cell));
  }
  return Eigen::Map<const Matrix>(values.data(), rows, static_cast<Index>(values.size()) / rows);
}

Vector vector_of(const Json& numbers) {
  const auto values = numbers.get<std::vector<double>>();
  return Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size()));
}

class WeightsGolden : public testing::Test {
 protected:
  WeightsGolden() {
    const auto folder = std::filesystem::path(ECOTONE_SOURCE_DIR) / "tests/golden/logistic/08_importance_weights";
    std::ifstream file(folder / "case.json");
    json_ = Json::parse(file);
    const Matrix source = read_csv(folder / "XS.csv");
    const Matrix target = read_csv(folder / "XT.csv");
    Matrix both(source.rows() + target.rows(), source.cols());
    both << source, target;
    x_ = Features::dense(both);
    sources_ = source.rows();
    const Matrix y = read_csv(folder / "yS.csv");
    for (Index i = 0; i < y.size(); ++i) cls_.push_back(y(i, 0) > 0 ? 1 : 0);
  }

  std::vector<Json> tasks(const std::string& op) const {
    std::vector<Json> found;
    for (const Json& task : json_.at("tasks")) {
      if (task.at("op") == op) found.push_back(task);
    }
    EXPECT_FALSE(found.empty()) << op;
    return found;
  }

  void expect_near(const Vector& found, const Json& expected, const char* field, double sign = 1) const {
    const Vector wanted = sign * vector_of(expected.at(field));
    ASSERT_EQ(found.size(), wanted.size()) << field;
    EXPECT_LE((found - wanted).cwiseAbs().maxCoeff(), tolerance(field)) << field;
  }
  void expect_near(double found, const Json& expected, const char* field, double sign = 1) const {
    EXPECT_NEAR(found, sign * expected.at(field).get<double>(), tolerance(field)) << field;
  }
  double tolerance(const char* field) const { return json_.at("tol").at(field).get<double>(); }

  void expect_weights(const Vector& weights, const Json& expected) const {
    expect_near(weights, expected, "weights");
    expect_near(effective_sample_size(weights), expected, "ess");
  }

  RatioFit logistic(double rho) const { return logistic_ratio(x_, sources_, {.l2 = rho}, context_); }

  const Context context_{Context::Settings{.threads = 2}};
  Json json_;
  Features x_;
  Index sources_ = 0;
  std::vector<std::int32_t> cls_;
};

TEST_F(WeightsGolden, Logistic) {
  for (const Json& task : tasks("weights_logistic")) {
    const RatioFit fit = logistic(task.at("rho"));
    expect_near(Vector(fit.classifier.weights.row(0)), task.at("expect"), "w");
    expect_near(fit.classifier.offset[0], task.at("expect"), "theta", -1);
    expect_weights(fit.log_weight.array().exp(), task.at("expect"));
  }
}

TEST_F(WeightsGolden, Knn) {
  for (const Json& task : tasks("weights_knn")) {
    const ZeroCount zero = task.at("zero") == "smooth" ? ZeroCount::smooth : ZeroCount::cap;
    const KnnRatioOptions options{.k = task.at("k"), .zero = zero, .include_self = task.at("include_self")};
    expect_weights(knn_ratio(x_, sources_, options, context_), task.at("expect"));
  }
}

TEST_F(WeightsGolden, Gaussian) {
  for (const Json& task : tasks("weights_gauss")) {
    expect_weights(gaussian_log_ratio(x_, sources_, {.shrink = 0.0}, context_).array().exp(), task.at("expect"));
  }
}

TEST_F(WeightsGolden, Flattened) {
  for (const Json& task : tasks("flatten_to_ess")) {
    const double ess = task.at("target").get<double>() * static_cast<double>(sources_);
    const Flattened flat = flatten_to_ess(logistic(0.01).log_weight, ess);
    expect_near(flat.exponent, task.at("expect"), "lam");
    expect_near(flat.weights, task.at("expect"), "weights");
  }
}

TEST_F(WeightsGolden, WeightedFit) {
  for (const Json& task : tasks("weighted_fit")) {
    const Vector weight = logistic(0.01).log_weight.array().exp();
    const LinearFit fit =
        fit_linear({.x = x_.head(sources_), .cls = cls_, .weight = weight, .l2 = task.at("rho")}, context_);
    expect_near(Vector(fit.weights.row(0)), task.at("expect"), "w");
    expect_near(fit.offset[0], task.at("expect"), "theta", -1);
    expect_near(fit.risk, task.at("expect"), "risk");
  }
}

TEST_F(WeightsGolden, JointFit) {
  const Vector all_one;
  for (const Json& task : tasks("joint_fit")) {
    const JointFit fit = fit_joint({.x = x_,
                                    .sources = sources_,
                                    .cls = cls_,
                                    .weight = all_one,
                                    .l2 = task.at("rho_w"),
                                    .lam = task.at("lam"),
                                    .domain_l2 = task.at("rho_v")},
                                   context_);
    EXPECT_TRUE(fit.converged) << fit.gradient;
    expect_near(fit.weights, task.at("expect"), "w");
    expect_near(fit.offset, task.at("expect"), "theta", -1);
    expect_near(fit.domain_weights, task.at("expect"), "v");
    expect_near(fit.domain_offset, task.at("expect"), "thetav", -1);
    expect_near(fit.risk, task.at("expect"), "J");
  }
}

template <class Call>
std::string code_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return "none";
}

TEST_F(WeightsGolden, RefusesByName) {
  const auto knn = [&](Index k, bool self) {
    return code_of([&] { knn_ratio(x_, sources_, {.k = k, .include_self = self}, context_); });
  };
  EXPECT_EQ(knn(x_.rows() - 1, false), "none");
  EXPECT_EQ(knn(x_.rows(), false), "bad_k");
  EXPECT_EQ(knn(x_.rows(), true), "bad_k");
  EXPECT_EQ(code_of([&] { knn_ratio(x_, x_.rows(), {}, context_); }), "empty_data");
  EXPECT_EQ(code_of([&] { gaussian_log_ratio(x_, x_.rows(), {}, context_); }), "empty_data");
  // A column twice: not with shrink=0, but with any other.
  Matrix twice(x_.rows(), 3);
  twice << x_.to_matrix(), 2 * x_.to_matrix().col(1);
  const Features singular = Features::dense(twice);
  const auto gaussian = [&](std::optional<double> shrink) {
    return code_of([&] { gaussian_log_ratio(singular, sources_, {.shrink = shrink}, context_); });
  };
  EXPECT_EQ(gaussian(0.0), "singular_covariance");
  EXPECT_EQ(gaussian(0.1), "none");
  EXPECT_EQ(gaussian(std::nullopt), "none");
}

TEST_F(WeightsGolden, GaussianWeightsDoNotDependOnUnits) {
  Matrix scaled = x_.to_matrix();
  scaled.col(0) = 1e3 * scaled.col(0).array() + 5e4;
  for (const std::optional<double> shrink : {std::optional<double>(0.0), std::optional<double>(0.3), {}}) {
    const Vector expected = gaussian_log_ratio(x_, sources_, {.shrink = shrink}, context_);
    const Vector found = gaussian_log_ratio(Features::dense(scaled), sources_, {.shrink = shrink}, context_);
    EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-7);
  }
}

TEST_F(WeightsGolden, JointFitIsAMinimumWithoutOffsetAndWithWeights) {
  Vector weight = Vector::LinSpaced(sources_, 0, 2);
  JointProblem problem{.x = x_, .sources = sources_, .cls = cls_, .weight = weight};
  problem.l2 = 0.02;
  problem.lam = 3;
  problem.domain_l2 = 0.05;
  problem.offset = false;
  const JointFit fit = fit_joint(problem, context_);
  EXPECT_TRUE(fit.converged);
  EXPECT_EQ(fit.offset, 0);
  const Matrix x = x_.to_matrix();
  const auto risk = [&](const Vector& w, const Vector& v, double c) {
    double label = 0;
    double domain = 0;
    for (Index i = 0; i < x.rows(); ++i) {
      const double s = x.row(i).dot(v) + c;
      domain += std::log1p(std::exp(i < sources_ ? -s : s));
      if (i >= sources_) continue;
      const double y = cls_[static_cast<std::size_t>(i)] == 1 ? 1 : -1;
      label += weight[i] * std::exp(-s) * std::log1p(std::exp(-y * x.row(i).dot(w)));
    }
    return label / static_cast<double>(x.rows() - sources_) + 0.02 * w.squaredNorm() +
           3 * (domain / static_cast<double>(x.rows()) + 0.05 * v.squaredNorm());
  };
  const double least = risk(fit.weights, fit.domain_weights, fit.domain_offset);
  EXPECT_NEAR(least, fit.risk, 1e-12);
  for (const double h : {-1e-3, 1e-3}) {
    for (Index j = 0; j < 2; ++j) {
      EXPECT_GT(risk(fit.weights + h * Vector::Unit(2, j), fit.domain_weights, fit.domain_offset), least);
      EXPECT_GT(risk(fit.weights, fit.domain_weights + h * Vector::Unit(2, j), fit.domain_offset), least);
    }
    EXPECT_GT(risk(fit.weights, fit.domain_weights, fit.domain_offset + h), least);
  }
}

}  // namespace
}  // namespace ecotone
