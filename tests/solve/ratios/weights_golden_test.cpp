// The golden case 08_importance_weights through the solvers: importance weights, their shapes, weighted and joint fits.
#include "solve/ratios/weights_golden.h"

#include <cmath>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/measure/weights.h"
#include "ecotone/solve/ratios/density_ratio.h"
#include "ecotone/solve/ratios/gaussian_ratio.h"
#include "ecotone/solve/ratios/joint.h"
#include "ecotone/solve/ratios/knn_ratio.h"

namespace ecotone {
namespace weights_golden_test {

using WeightsGolden = test::WeightsGolden;

TEST_F(WeightsGolden, Logistic) {
  for (const Json& task : tasks("weights_logistic")) {
    const RatioFit fit = logistic_ratio(x_, sources_, {.l2 = task.at("rho")}, context_);
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
    const Flattened flat = flatten_to_ess(logistic_ratio(x_, sources_, {.l2 = 0.01}, context_).log_weight, ess);
    expect_near(flat.exponent, task.at("expect"), "lam");
    expect_near(flat.weights, task.at("expect"), "weights");
  }
}

TEST_F(WeightsGolden, WeightedFit) {
  for (const Json& task : tasks("weighted_fit")) {
    const Vector weight = logistic_ratio(x_, sources_, {.l2 = 0.01}, context_).log_weight.array().exp();
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

}  // namespace weights_golden_test
}  // namespace ecotone
