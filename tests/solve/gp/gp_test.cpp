#include "ecotone/solve/gp/gp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "ecotone/base/error.h"
#include "ecotone/solve/gp/likelihood.h"
#include "error_code.h"
#include "linalg/support.h"
#include "solve/components/golden.h"
#include "source_dir.h"

namespace ecotone {
namespace gp_test {

const Matrix no_inputs;

Json golden_cases() {
  std::ifstream file(source_dir() / "tests/golden/gp/cases.json");
  EXPECT_TRUE(file);
  return Json::parse(file);
}

Kernel kernel_of(const Json& k) {
  const std::map<std::string, KernelKind> kinds{
      {"rbf", KernelKind::rbf}, {"laplacian", KernelKind::laplacian}, {"poly", KernelKind::poly}};
  return {kinds.at(k.at("kind")), k.value("sigma", 1.0), k.value("degree", 3), k.value("coef0", 1.0), 1};
}

double gap(const Matrix& ours, const Matrix& expected) {
  EXPECT_EQ(ours.rows(), expected.rows());
  EXPECT_EQ(ours.cols(), expected.cols());
  return (ours - expected).cwiseAbs().maxCoeff();
}

/// Smooth functions of the rows with some noise.
Matrix outputs_of(const Matrix& x, Index outputs) {
  Matrix y = 0.1 * random_matrix(x.rows(), outputs, 9);
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < outputs; ++j) y(i, j) += std::sin(static_cast<double>(j + 1) * x(i, 0)) + x(i, 1) + 3;
  return y;
}

TEST(Gp, AgreesWithScikitLearn) {
  const Context context = with_threads(2);
  for (const Json& golden : golden_cases()) {
    const Kernel kernel = kernel_of(golden.at("kernel"));
    const Matrix x = golden_matrix(golden.at("x")), y = golden_matrix(golden.at("y")),
                 z = golden_matrix(golden.at("z"));
    const GpParameters parameters{kernel.sigma, golden.at("amplitude"), golden.at("noise")};
    Matrix gram = kernel_gram(kernel, x, context);
    gram.triangularView<Eigen::StrictlyUpper>().setConstant(7);  // must not be read
    const Matrix cross = kernel_gram(kernel, z, x, context);
    const std::string name = golden.at("name");
    for (const GpRows& rows : {GpRows(kernel, x), GpRows(gram)}) {
      const GpProblem problem{rows, y, no_inputs};
      const GpFit fit = fit_gp(problem, parameters, context);
      EXPECT_EQ(fit.jitter, 0);
      EXPECT_NEAR(fit.log_likelihood, golden.at("log_likelihood").get<double>(), 1e-8) << name;
      EXPECT_LT(gap(fit.mean(cross, no_inputs, context), golden_matrix(golden.at("mean"))), 1e-8) << name;
      const Vector variance = fit.variance(cross, kernel_diagonal(kernel, z), no_inputs, context);
      EXPECT_LT(gap(variance, golden_vector(golden.at("variance"))), 1e-8) << name;
      const auto likelihood = gp_likelihood(problem, parameters, context);
      ASSERT_TRUE(likelihood) << name;
      const Json& slopes = golden.at("slopes");
      EXPECT_NEAR(likelihood->value, golden.at("log_likelihood").get<double>(), 1e-8) << name;
      EXPECT_NEAR(likelihood->by_amplitude, slopes.at("amplitude").get<double>(), 1e-8) << name;
      EXPECT_NEAR(likelihood->by_noise, slopes.at("noise").get<double>(), 1e-8) << name;
      if (rows.has_width()) {
        EXPECT_NEAR(likelihood->by_sigma, slopes.at("sigma").get<double>(), 1e-8) << name;
      }
    }
    const GpFit fit = fit_gp({GpRows(kernel, x), y, no_inputs}, parameters, context);
    const GpPrediction prediction = predict_gp(fit, kernel, x, z, GpVariance::latent, context);
    EXPECT_LT(gap(prediction.mean, golden_matrix(golden.at("mean"))), 1e-8) << name;
    EXPECT_LT(gap(prediction.variance, golden_vector(golden.at("variance"))), 1e-8) << name;
  }
}

TEST(Gp, SlopesAreThoseOfTheLikelihood) {
  const Context context = with_threads(2);
  const Matrix x = random_matrix(300, 3);
  const Matrix y = outputs_of(x, 2);
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian})
    for (const auto mean : {GpMean::zero, GpMean::average, GpMean::constant, GpMean::linear}) {
      const GpProblem problem{GpRows({.kind = kind}, x), y, x, mean};
      const GpParameters here{1.3, 0.8, 0.05};
      const auto at = gp_likelihood(problem, here, context);
      ASSERT_TRUE(at);
      const auto slope = [&](double GpParameters::*which) {
        const double h = 1e-4;
        GpParameters up = here, down = here;
        up.*which *= std::exp(h);
        down.*which *= std::exp(-h);
        return (fit_gp(problem, up, context).log_likelihood - fit_gp(problem, down, context).log_likelihood) / (2 * h);
      };
      EXPECT_NEAR(at->by_sigma, slope(&GpParameters::sigma), 1e-5 * std::abs(at->by_sigma) + 1e-3);
      EXPECT_NEAR(at->by_amplitude, slope(&GpParameters::amplitude), 1e-5 * std::abs(at->by_amplitude) + 1e-3);
      EXPECT_NEAR(at->by_noise, slope(&GpParameters::noise), 1e-5 * std::abs(at->by_noise) + 1e-3);
    }
}

/// A mean by generalised least squares is the limit of a process whose functions have coefficients of large variance.
TEST(Gp, MeanByLeastSquaresIsTheLimitOfAWidePrior) {
  const Context context = with_threads(1);
  const Matrix x = random_matrix(60, 2);
  const Matrix z = random_matrix(10, 2, 1) * 3;
  const Matrix y = outputs_of(x, 2);
  const Kernel kernel{.sigma = 0.9};
  const GpParameters parameters{0.9, 1, 0.05};
  for (const auto mean : {GpMean::constant, GpMean::linear}) {
    const GpFit fit = fit_gp({GpRows(kernel, x), y, x, mean}, parameters, context);
    const Matrix h = fit.basis.of(x, 60), hz = fit.basis.of(z, 10);
    const double wide = 1e6;
    const Matrix gram = kernel_gram(kernel, x, context) + wide * h * h.transpose();
    const Matrix cross = kernel_gram(kernel, z, x, context);
    const Matrix cross_wide = cross + wide * hz * h.transpose();
    const Vector diagonal = Vector::Ones(10) + wide * hz.rowwise().squaredNorm();
    const GpFit limit = fit_gp({GpRows(gram), y, no_inputs, GpMean::zero}, parameters, context);
    EXPECT_LT(gap(fit.mean(cross, z, context), limit.mean(cross_wide, no_inputs, context)), 1e-4);
    EXPECT_LT(gap(fit.variance(cross, Vector::Ones(10), z, context),
                  limit.variance(cross_wide, diagonal, no_inputs, context)),
              1e-4);
  }
}

TEST(Gp, LinearMeanIsFoundAndGoesOnBeyondTheRows) {
  const Context context = with_threads(1);
  Matrix x = random_matrix(50, 3).array() + 1000;
  x.col(2).setConstant(4);  // no slope of its own
  const Matrix y = (2 * x.col(0) - 3 * x.col(1)).array() + 1;
  const Kernel kernel{.sigma = 0.5};
  const GpFit fit = fit_gp({GpRows(kernel, x), y, x, GpMean::linear}, {0.5, 1, 0.1}, context);
  Matrix z(1, 3);
  z << 5000, -3000, 4;
  const GpPrediction far = predict_gp(fit, kernel, x, z, GpVariance::latent, context);
  EXPECT_NEAR(far.mean(0, 0), 2 * 5000 + 3 * 3000 + 1, 1e-6);
  EXPECT_GT(far.variance[0], 100);
}

TEST(Gp, VarianceFallsAtRowsAndIsThePriorFarAway) {
  const Context context = with_threads(2);
  const Matrix x = random_matrix(40, 2);
  const Matrix y = outputs_of(x, 1);
  const Kernel kernel{.sigma = 0.7};
  const GpFit fit = fit_gp({GpRows(kernel, x), y, no_inputs}, {0.7, 2, 1e-3}, context);
  const GpPrediction here = predict_gp(fit, kernel, x, x, GpVariance::latent, context);
  EXPECT_LT(here.variance.maxCoeff(), 1e-3);
  const Matrix z = Matrix::Constant(1, 2, 100);
  const GpPrediction far = predict_gp(fit, kernel, x, z, GpVariance::latent, context);
  EXPECT_NEAR(far.variance[0], 2, 1e-12);
  EXPECT_NEAR(far.mean(0, 0), y.mean(), 1e-12);
  EXPECT_EQ(predict_gp(fit, kernel, x, z, GpVariance::none, context).variance.size(), 0);
}

TEST(Gp, SameBytesForAnyNumberOfThreads) {
  const Matrix x = random_matrix(600, 3);
  const Matrix y = outputs_of(x, 2);
  Matrix mean;
  Vector variance;
  double slope = 0;
  for (const int threads : {1, 2, 3}) {
    const Context context = with_threads(threads);
    const GpProblem problem{GpRows({.sigma = 2}, x), y, x, GpMean::linear};
    const GpParameters parameters{2, 1, 0.1};
    const GpFit fit = fit_gp(problem, parameters, context);
    const GpPrediction ours = predict_gp(fit, {}, x, x.topRows(300), GpVariance::latent, context);
    const auto likelihood = gp_likelihood(problem, parameters, context);
    ASSERT_TRUE(likelihood);
    if (threads == 1) {
      mean = ours.mean;
      variance = ours.variance;
      slope = likelihood->by_sigma;
    }
    EXPECT_TRUE(same_bytes(ours.mean, mean));
    EXPECT_TRUE(same_bytes(ours.variance, variance));
    EXPECT_EQ(likelihood->by_sigma, slope);
  }
}

TEST(Gp, JitterIsSaidAndSmall) {
  const Context context = with_threads(1);
  Matrix x(20, 1);
  for (Index i = 0; i < 20; ++i) x(i, 0) = static_cast<double>(i / 2);  // every row twice
  const Matrix y = x.array().sin();
  const Kernel kernel{.sigma = 3};
  const GpFit fit = fit_gp({GpRows(kernel, x), y, no_inputs}, {3, 1, 0}, context);
  EXPECT_GT(fit.jitter, 0);
  EXPECT_LE(fit.jitter, 1.5e-6);
  EXPECT_LT(gap(predict_gp(fit, kernel, x, x, GpVariance::none, context).mean, y), 1e-3);
}

TEST(GpSearch, FindsTheLikelihoodOfManyStarts) {
  const Context context = with_threads(2);
  const Json golden = golden_cases().at(0);
  const Matrix x = golden_matrix(golden.at("x")), y = golden_matrix(golden.at("y"));
  const GpProblem problem{GpRows({.sigma = 1}, x), y, no_inputs};
  const GpSearch search = maximise_likelihood(problem, {}, context);
  EXPECT_TRUE(search.converged);
  EXPECT_FALSE(search.at_bound);
  EXPECT_GE(search.log_likelihood, golden.at("best_log_likelihood").get<double>() - 1e-6);
  const auto there = gp_likelihood(problem, search.parameters, context);
  ASSERT_TRUE(there);
  EXPECT_NEAR(there->value, search.log_likelihood, 1e-9);
  EXPECT_LT(std::abs(there->by_sigma) + std::abs(there->by_amplitude) + std::abs(there->by_noise), 3e-5 * 30);
}

TEST(GpSearch, OfAGramMatrixLearnsAmplitudeAndNoise) {
  const Context context = with_threads(2);
  const Matrix x = random_matrix(200, 2);
  const Matrix gram = kernel_gram({.sigma = 1}, x, context);
  const Matrix noise = random_matrix(200, 1, 5);
  const Matrix y = 3 * gram.col(0) - 2 * gram.col(1) + 0.2 * noise;
  const GpSearch search = maximise_likelihood({GpRows(gram), y, no_inputs}, {.starts = 1}, context);
  EXPECT_TRUE(search.converged);
  EXPECT_NEAR(std::sqrt(search.parameters.noise), 0.2, 0.03);
  // Outputs in other units have parameters in other units.
  const Matrix larger = 1000 * y;
  const GpSearch scaled = maximise_likelihood({GpRows(gram), larger, no_inputs}, {.starts = 1}, context);
  EXPECT_NEAR(scaled.parameters.noise / search.parameters.noise / 1e6, 1, 1e-3);
}

TEST(GpSearch, OfConstantOutputsEndsAtABound) {
  const Context context = with_threads(1);
  const Matrix x = random_matrix(20, 2);
  const Matrix y = Matrix::Constant(20, 1, 4);
  const GpSearch search = maximise_likelihood({GpRows({.sigma = 1}, x), y, no_inputs}, {}, context);
  EXPECT_TRUE(search.at_bound);
  EXPECT_TRUE(std::isfinite(search.log_likelihood));
}

TEST(Gp, SaysBeforeItTakesMemoryThatThereIsTooLittle) {
  const Context context = with_threads(1);
  const Matrix x = Matrix::Ones(3'000'000, 1);  // a covariance of 72 TB
  const GpProblem problem{GpRows({}, x), x, no_inputs};
  EXPECT_EQ(test::code_of([&] { fit_gp(problem, {}, context); }), "not_enough_memory");
  EXPECT_EQ(test::code_of([&] { gp_likelihood(problem, {}, context); }), "not_enough_memory");
}

TEST(Gp, RefusesWhatCannotBeFitted) {
  const Context context = with_threads(1);
  const Matrix x = random_matrix(6, 2), y = random_matrix(6, 1), short_y = random_matrix(5, 1);
  const Matrix wide = random_matrix(6, 6), none(0, 2), no_y(0, 1);
  Matrix bad = y;
  bad(3, 0) = std::nan("");
  const GpRows rows({}, x);
  const auto code = [&](const GpProblem& problem, const GpParameters& parameters) {
    return test::code_of([&] { fit_gp(problem, parameters, context); });
  };
  EXPECT_EQ(code({rows, short_y, no_inputs}, {}), "shape_mismatch");
  EXPECT_EQ(code({GpRows(x), y, no_inputs}, {}), "shape_mismatch");
  EXPECT_EQ(code({GpRows({}, none), no_y, no_inputs}, {}), "empty_data");
  EXPECT_EQ(code({rows, bad, no_inputs}, {}), "non_finite");
  EXPECT_EQ(code({rows, y, wide, GpMean::linear}, {}), "too_few_rows");
  EXPECT_EQ(code({rows, y, no_inputs, GpMean::linear}, {}), "shape_mismatch");
  EXPECT_EQ(code({rows, y, no_inputs}, {1, 0, 0.1}), "bad_option");
  EXPECT_EQ(code({rows, y, no_inputs}, {1, 1, -1}), "bad_option");
  EXPECT_EQ(code({rows, y, no_inputs}, {0, 1, 1}), "bad_option");
  const Matrix indefinite = -Matrix::Identity(6, 6);
  EXPECT_EQ(code({GpRows(indefinite), y, no_inputs}, {}), "not_positive_definite");
  Matrix saddle = Matrix::Identity(6, 6);
  saddle(5, 4) = 3;
  EXPECT_EQ(code({GpRows(saddle), y, no_inputs}, {}), "not_positive_definite");
  EXPECT_EQ(test::code_of([&] { maximise_likelihood({rows, y, no_inputs}, {.starts = 0}, context); }), "bad_option");
  EXPECT_EQ(test::code_of([&] { GpBasis(GpMean::constant, Vector::Ones(2), Vector::Ones(2)); }), "bad_mean");
  EXPECT_EQ(test::code_of([&] { GpBasis(GpMean::linear, Vector::Ones(2), Vector::Ones(1)); }), "bad_mean");
  const GpFit fit = fit_gp({rows, y, no_inputs}, {}, context);
  EXPECT_EQ(test::code_of([&] { fit.mean(wide.leftCols(5), no_inputs, context); }), "shape_mismatch");
  EXPECT_EQ(test::code_of([&] { fit.variance(wide, Vector::Ones(2), no_inputs, context); }), "shape_mismatch");
  EXPECT_EQ(test::code_of([&] { predict_gp(fit, {}, x, wide, GpVariance::none, context); }), "shape_mismatch");
}

}  // namespace gp_test
}  // namespace ecotone
