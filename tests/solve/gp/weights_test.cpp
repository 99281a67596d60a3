#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/solve/gp/left_out.h"
#include "ecotone/solve/gp/likelihood.h"
#include "ecotone/solve/gp/low_rank.h"
#include "linalg/support.h"

namespace ecotone {
namespace gp_weights_test {

constexpr Index rows = 120;
const Kernel rbf{.sigma = 1.1};

struct Weighted {
  Matrix x = random_matrix(rows, 2);
  Matrix y = Matrix(0.2 * random_matrix(rows, 2, 5));
  std::vector<double> weight;

  Weighted() {
    for (Index i = 0; i < rows; ++i) {
      y(i, 0) += std::sin(2 * x(i, 0)) + 3;
      y(i, 1) += x(i, 1);
      weight.push_back(0.3 + static_cast<double>(i % 5));
    }
  }
  GpProblem problem(GpMean mean) const { return {GpRows(rbf, x), y, x, mean, "gp", weight}; }
};

class GpOfMean : public testing::TestWithParam<GpMean> {};
INSTANTIATE_TEST_SUITE_P(Means, GpOfMean,
                         testing::Values(GpMean::zero, GpMean::average, GpMean::constant, GpMean::linear));

TEST_P(GpOfMean, SlopesWithWeightsAreThoseOfTheLikelihood) {
  const Context context = with_threads(2);
  const Weighted data;
  const GpProblem problem = data.problem(GetParam());
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

TEST_P(GpOfMean, WeightsOfALowRankAreThoseOfTheExactProcess) {
  const Context context = with_threads(2);
  const Weighted data;
  const GpParameters parameters{rbf.sigma, 1.4, 0.05};
  const Features x = Features::dense(data.x), z = Features::dense(random_matrix(30, 2, 8));
  const GpFit exact = fit_gp(data.problem(GetParam()), parameters, context);
  const LowRankMap map = fit_low_rank(x, rbf, {.rank = rows}, context).map;
  const GpSums sums = gather_gp_sums(gp_map_rows(x, map), data.y, data.x, GetParam(), data.weight, context);
  const GpLowRankFit fit = fit_gp_low_rank(sums, parameters, context);
  EXPECT_NEAR(fit.log_likelihood / exact.log_likelihood, 1, 1e-6);
  const auto slopes = gp_low_rank_likelihood(sums, parameters, context);
  const auto expected = gp_likelihood(data.problem(GetParam()), parameters, context);
  ASSERT_TRUE(slopes && expected);
  EXPECT_NEAR(slopes->by_noise / expected->by_noise, 1, 1e-4);
  EXPECT_NEAR(slopes->by_amplitude / expected->by_amplitude, 1, 1e-4);
  const Matrix new_rows = z.to_matrix();
  const GpPrediction a = predict_gp_low_rank(fit, map, z, new_rows, GpLowRankVariance::whole, context);
  const GpPrediction b = predict_gp(exact, rbf, data.x, new_rows, GpVariance::latent, context);
  EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((a.variance - b.variance).cwiseAbs().maxCoeff(), 1e-6);
}

TEST_P(GpOfMean, RowsLeftOutAreThoseOfRefits) {
  const Context context = with_threads(2);
  const Weighted data;
  const GpParameters parameters{rbf.sigma, 0.9, 0.07};
  std::vector<std::vector<Index>> blocks(3);
  for (Index i = 0; i < rows; ++i) blocks[static_cast<std::size_t>(i % 7 < 4 ? 0 : i % 7 == 4 ? 1 : 2)].push_back(i);
  const auto ours = gp_left_out(data.problem(GetParam()), parameters, blocks, context);
  ASSERT_TRUE(ours);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    std::vector<Index> rest;
    std::vector<double> weight;
    for (Index i = 0; i < rows; ++i) {
      if (std::find(blocks[b].begin(), blocks[b].end(), i) != blocks[b].end()) continue;
      rest.push_back(i);
      weight.push_back(data.weight[static_cast<std::size_t>(i)]);
    }
    const Matrix x = data.x(rest, Eigen::all), y = data.y(rest, Eigen::all), z = data.x(blocks[b], Eigen::all);
    const GpFit fit = fit_gp({GpRows(rbf, x), y, x, GetParam(), "gp", weight}, parameters, context);
    const Matrix mean = predict_gp(fit, rbf, x, z, GpVariance::none, context).mean;
    const Matrix expected = Matrix(data.y(blocks[b], Eigen::all)) - mean;
    EXPECT_LT(((*ours)[b] - expected).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(GpSearch, KeepsWhatIsGiven) {
  const Context context = with_threads(2);
  const Weighted data;
  const GpProblem problem = data.problem(GpMean::constant);
  const GpSearch search =
      maximise_likelihood(problem, {.fixed = {.sigma = 0.8, .amplitude = {}, .noise = 0.03}}, context);
  EXPECT_EQ(search.parameters.sigma, 0.8);
  EXPECT_EQ(search.parameters.noise, 0.03);
  EXPECT_TRUE(search.converged);
  EXPECT_FALSE(search.at_bound);
  const auto there = gp_likelihood(problem, search.parameters, context);
  ASSERT_TRUE(there);
  EXPECT_LT(std::abs(there->by_amplitude), 1e-5 * 2 * rows);
  // No noise at all is a number like others.
  const GpSearch exact =
      maximise_likelihood(problem, {.fixed = {.sigma = 0.05, .amplitude = {}, .noise = 0.0}}, context);
  EXPECT_EQ(exact.parameters.noise, 0);
  EXPECT_GT(exact.parameters.amplitude, 0);
}

TEST(GpSearch, ThatBeginsOnFewRowsEndsAtTheSamePlace) {
  const Context context = with_threads(2);
  const Matrix x = random_matrix(300, 2);
  Matrix y = 0.2 * random_matrix(300, 1, 5);
  for (Index i = 0; i < 300; ++i) y(i, 0) += std::sin(2 * x(i, 0)) + x(i, 1);
  const Matrix gram = kernel_gram({.sigma = 1}, x, context), none;
  std::vector<double> weight(300, 1.0);
  for (std::size_t i = 0; i < 300; i += 2) weight[i] = 3;
  for (const GpRows& values : {GpRows({.sigma = 1}, x), GpRows(gram)}) {
    const GpProblem problem{values, y, none, GpMean::average, "gp", weight};
    const GpSearch whole = maximise_likelihood(problem, {.subset = 0}, context);
    const GpSearch part = maximise_likelihood(problem, {.subset = 100}, context);
    EXPECT_TRUE(part.converged);
    EXPECT_NEAR(part.log_likelihood, whole.log_likelihood, 1e-3);
    EXPECT_EQ(whole.subset_evaluations, 0);
    EXPECT_GT(part.subset_evaluations, part.evaluations);
    EXPECT_LT(part.evaluations, whole.evaluations);
  }
}

TEST(GpWeights, MustBePositive) {
  const Context context = with_threads(1);
  const Matrix x = random_matrix(4, 2), y = random_matrix(4, 1), none;
  const auto code = [&](const std::vector<double>& weight) -> std::string {
    try {
      fit_gp({GpRows(rbf, x), y, none, GpMean::zero, "gp", weight}, {}, context);
    } catch (const Error& e) {
      return e.code();
    }
    return "none";
  };
  EXPECT_EQ(code({1, 1, 2, 0.5}), "none");
  EXPECT_EQ(code({1, 1, 0, 1}), "bad_weight");
  EXPECT_EQ(code({1, 1, std::nan(""), 1}), "bad_weight");
  EXPECT_EQ(code({1, 1, 1}), "shape_mismatch");
}

}  // namespace gp_weights_test
}  // namespace ecotone
