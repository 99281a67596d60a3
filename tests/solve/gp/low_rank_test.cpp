#include "ecotone/solve/gp/low_rank.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/error.h"
#include "error_code.h"
#include "linalg/support.h"

namespace ecotone {
namespace gp_low_rank_test {

const Matrix no_inputs;
const Kernel rbf{.sigma = 1.5};

struct Rows {
  Matrix x;
  Matrix y;

  explicit Rows(Index n, std::uint64_t key = 0) : x(random_matrix(n, 3, key)), y(0.2 * random_matrix(n, 2, key + 50)) {
    for (Index i = 0; i < n; ++i) {
      y(i, 0) += std::sin(2 * x(i, 0)) + x(i, 1) + 10;
      y(i, 1) += x(i, 0) * x(i, 2) - 2 * x(i, 1);
    }
  }
};

LowRankMap map_of(const Matrix& x, Index rank, const Context& context) {
  return fit_low_rank(Features::dense(x), rbf, {.rank = rank}, context).map;
}

/// Of weights 1.
GpSums sums_of(const Features& x, const LowRankMap& map, ConstMatrixView y, ConstMatrixView inputs, GpMean mean,
               const Context& context) {
  return gather_gp_sums(gp_map_rows(x, map), y, inputs, mean, {}, context);
}

double gap(const Matrix& a, const Matrix& b) {
  EXPECT_EQ(a.rows(), b.rows());
  EXPECT_EQ(a.cols(), b.cols());
  return a.size() == 0 ? 0 : (a - b).cwiseAbs().maxCoeff();
}

class GpLowRankMean : public testing::TestWithParam<GpMean> {};

TEST_P(GpLowRankMean, OfFullRankIsTheExactProcess) {
  const Context context = with_threads(2);
  const Rows rows(500), fresh(60, 1);
  const LowRankMap map = map_of(rows.x, 500, context);
  const GpParameters parameters{rbf.sigma, 1.4, 0.05};
  const GpProblem problem{GpRows(rbf, rows.x), rows.y, rows.x, GetParam()};
  const GpFit exact = fit_gp(problem, parameters, context);
  const GpSums sums = sums_of(Features::dense(rows.x), map, rows.y, rows.x, GetParam(), context);
  const GpLowRankFit fit = fit_gp_low_rank(sums, parameters, context);
  EXPECT_NEAR(fit.log_likelihood, exact.log_likelihood, 1e-6 * std::abs(exact.log_likelihood));
  EXPECT_LT(gap(fit.beta, exact.beta), 1e-6);
  const GpPrediction truth = predict_gp(exact, rbf, rows.x, fresh.x, GpVariance::latent, context);
  for (const auto kind : {GpLowRankVariance::map, GpLowRankVariance::whole}) {
    const GpPrediction ours = predict_gp_low_rank(fit, map, Features::dense(fresh.x), fresh.x, kind, context);
    EXPECT_LT(gap(ours.mean, truth.mean), 1e-6);
    EXPECT_LT(gap(ours.variance, truth.variance), kind == GpLowRankVariance::whole ? 1e-5 : 1e-2);
  }
  const auto slopes = gp_low_rank_likelihood(sums, parameters, context);
  const auto expected = gp_likelihood(problem, parameters, context);
  ASSERT_TRUE(slopes && expected);
  EXPECT_NEAR(slopes->by_noise, expected->by_noise, 1e-5 * std::abs(expected->by_noise));
  EXPECT_NEAR(slopes->by_amplitude, expected->by_amplitude, 1e-5 * std::abs(expected->by_amplitude));
}

INSTANTIATE_TEST_SUITE_P(All, GpLowRankMean,
                         testing::Values(GpMean::zero, GpMean::average, GpMean::constant, GpMean::linear));

TEST(GpLowRank, SlopesAreThoseOfTheLikelihood) {
  const Context context = with_threads(1);
  const Rows rows(200);
  const LowRankMap map = map_of(rows.x, 30, context);
  const GpSums sums = sums_of(Features::dense(rows.x), map, rows.y, rows.x, GpMean::linear, context);
  const GpParameters here{rbf.sigma, 0.7, 0.1};
  const auto at = gp_low_rank_likelihood(sums, here, context);
  ASSERT_TRUE(at);
  const auto slope = [&](double GpParameters::*which) {
    GpParameters up = here, down = here;
    up.*which *= std::exp(1e-4);
    down.*which *= std::exp(-1e-4);
    return (fit_gp_low_rank(sums, up, context).log_likelihood - fit_gp_low_rank(sums, down, context).log_likelihood) /
           2e-4;
  };
  EXPECT_NEAR(at->by_amplitude, slope(&GpParameters::amplitude), 1e-5 * std::abs(at->by_amplitude) + 1e-4);
  EXPECT_NEAR(at->by_noise, slope(&GpParameters::noise), 1e-5 * std::abs(at->by_noise) + 1e-4);
}

TEST(GpLowRank, OfModestRankIsNearTheExactProcess) {
  const Context context = with_threads(2);
  const Rows rows(1000), fresh(200, 1);
  const LowRankFit map = fit_low_rank(Features::dense(rows.x), rbf, {.rank = 250}, context);
  const GpSums sums = sums_of(Features::dense(rows.x), map.map, rows.y, no_inputs, GpMean::average, context);
  const GpSearch search = maximise_low_rank_likelihood(sums, map.diagonal, {}, context);
  EXPECT_TRUE(search.converged);
  EXPECT_NEAR(std::sqrt(search.parameters.noise), 0.2, 0.02);
  GpParameters parameters = search.parameters;
  parameters.sigma = rbf.sigma;
  const GpFit exact = fit_gp({GpRows(rbf, rows.x), rows.y, no_inputs}, parameters, context);
  const GpLowRankFit fit = fit_gp_low_rank(sums, parameters, context);
  const GpPrediction truth = predict_gp(exact, rbf, rows.x, fresh.x, GpVariance::none, context);
  const GpPrediction ours =
      predict_gp_low_rank(fit, map.map, Features::dense(fresh.x), no_inputs, GpLowRankVariance::none, context);
  EXPECT_EQ(ours.variance.size(), 0);
  for (Index j = 0; j < 2; ++j) {
    const double deviation = std::sqrt((rows.y.col(j).array() - rows.y.col(j).mean()).square().mean());
    EXPECT_LT(std::sqrt((ours.mean - truth.mean).col(j).squaredNorm() / 200), 0.01 * deviation) << j;
  }
}

TEST(GpLowRank, FarAwayTheWholeVarianceIsThePrior) {
  const Context context = with_threads(1);
  const Rows rows(300);
  const LowRankMap map = map_of(rows.x, 20, context);
  const GpSums sums = sums_of(Features::dense(rows.x), map, rows.y, no_inputs, GpMean::average, context);
  const GpLowRankFit fit = fit_gp_low_rank(sums, {rbf.sigma, 2, 0.1}, context);
  const Features far = Features::dense(Matrix::Constant(1, 3, 50));
  const auto variance = [&](const Features& x, GpLowRankVariance kind) {
    return predict_gp_low_rank(fit, map, x, no_inputs, kind, context).variance;
  };
  EXPECT_LT(variance(far, GpLowRankVariance::map)[0], 1e-12);
  EXPECT_NEAR(variance(far, GpLowRankVariance::whole)[0], 2, 1e-12);
  const Features here = Features::dense(rows.x);
  EXPECT_GE((variance(here, GpLowRankVariance::whole) - variance(here, GpLowRankVariance::map)).minCoeff(), 0);
}

TEST(GpLowRank, SameBytesForAnyNumberOfThreads) {
  const Rows rows(2000);
  const LowRankMap map = map_of(rows.x, 40, with_threads(1));
  Matrix mean;
  Vector variance;
  for (const int threads : {1, 2, 3}) {
    const Context context = with_threads(threads);
    const Features x = Features::dense(rows.x);
    const GpSums sums = sums_of(x, map, rows.y, rows.x, GpMean::linear, context);
    const GpLowRankFit fit = fit_gp_low_rank(sums, {rbf.sigma, 1, 0.1}, context);
    const GpPrediction ours = predict_gp_low_rank(fit, map, x, rows.x, GpLowRankVariance::whole, context);
    if (threads == 1) {
      mean = ours.mean;
      variance = ours.variance;
    }
    EXPECT_TRUE(same_bytes(ours.mean, mean));
    EXPECT_TRUE(same_bytes(ours.variance, variance));
  }
}

TEST(GpLowRank, RefusesWhatCannotBeFitted) {
  const Context context = with_threads(1);
  const Rows rows(30);
  const LowRankMap map = map_of(rows.x, 10, context);
  const Features x = Features::dense(rows.x);
  const Matrix short_y = rows.y.topRows(5);
  Matrix bad = rows.y;
  bad(2, 1) = std::nan("");
  const auto gather = [&](const Matrix& y, const Matrix& inputs, GpMean mean) {
    return test::code_of([&] { sums_of(x, map, y, inputs, mean, context); });
  };
  EXPECT_EQ(gather(short_y, no_inputs, GpMean::average), "shape_mismatch");
  EXPECT_EQ(gather(bad, no_inputs, GpMean::average), "non_finite");
  EXPECT_EQ(gather(rows.y, no_inputs, GpMean::linear), "shape_mismatch");
  const GpSums sums = sums_of(x, map, rows.y, no_inputs, GpMean::average, context);
  EXPECT_EQ(test::code_of([&] { fit_gp_low_rank(sums, {1, 1, 0}, context); }), "bad_option");
  EXPECT_EQ(test::code_of([&] { fit_gp_low_rank(sums, {1, -1, 1}, context); }), "bad_option");
  const GpLowRankFit fit = fit_gp_low_rank(sums, {}, context);
  const Features wide = Features::dense(random_matrix(2, 4));
  const auto none = GpLowRankVariance::none;
  EXPECT_EQ(test::code_of([&] { predict_gp_low_rank(fit, map, wide, no_inputs, none, context); }), "shape_mismatch");
  const LowRankMap other = map_of(rows.x, 9, context);
  EXPECT_EQ(test::code_of([&] { predict_gp_low_rank(fit, other, x, no_inputs, none, context); }), "shape_mismatch");
}

}  // namespace gp_low_rank_test
}  // namespace ecotone
