#include "ecotone/solve/components/low_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/solve/components/exact.h"
#include "linalg/support.h"

namespace ecotone {
namespace low_rank_components_test {

/// Rows of four groups, moved from group to group, in three classes.
struct Rows {
  Matrix x;
  std::vector<std::int32_t> group, classes;
  Matrix y;

  explicit Rows(Index n, double offset = 0) : x(n, 3), y(n, 1) {
    Random random(5, "low rank components");
    for (Index i = 0; i < n; ++i) {
      group.push_back(static_cast<std::int32_t>(i * 7 % 4));
      for (Index j = 0; j < 3; ++j) x(i, j) = random.normal();
      y(i, 0) = x(i, 0) + x(i, 1) * x(i, 1) + 0.2 * random.normal() + offset;
      classes.push_back(x(i, 0) < -0.5 ? 0 : x(i, 1) < 0.3 ? 1 : 2);
      x(i, 2) += 0.5 * group.back();
      x.row(i).array() += offset;
    }
  }
};

const Kernel rbf{.kind = KernelKind::rbf, .sigma = 1.5};

LowRankMap map_of(const Rows& rows, Index rank, const Context& context) {
  return fit_low_rank(Features::dense(rows.x), rbf, {.rank = rank}, context).map;
}

LowRankSums sums_of(const Rows& rows, const LowRankMap& map, const Context& context) {
  const Features x = Features::dense(rows.x);
  return gather_low_rank_sums({x, map, rows.group, 4, LowRankOutputs::of_classes(rows.classes, 3)}, context);
}

Matrix project(const LowRankMap& map, const LowRankComponents& found, const Matrix& x, bool direct) {
  Matrix z(x.rows(), found.theta.cols());
  LowRankProjection(map, found.theta, found.mean, direct).project(x, z);
  return z;
}

std::string code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return "";
}

std::vector<ComponentOptions> every_method(double lam) {
  std::vector<ComponentOptions> all;
  for (const bool supervised : {false, true})
    for (const double weight : {0.0, 50.0})
      for (const auto form : {ComponentForm::paper, ComponentForm::symmetric})
        for (const auto scaling : {ComponentScaling::reference, ComponentScaling::metric, ComponentScaling::variance}) {
          if (form == ComponentForm::paper && (lam == 0 || !supervised)) continue;
          all.push_back({.supervised = supervised,
                         .weight = weight,
                         .lam = lam,
                         .form = form,
                         .scaling = scaling,
                         .components = 2});
        }
  return all;
}

TEST(LowRankComponents, AsManyLandmarksAsRowsAreTheExactRoutes) {
  const Context context = with_threads(2);
  const Rows rows(80);
  const LowRankMap map = map_of(rows, 80, context);
  const LowRankSums sums = sums_of(rows, map, context);
  const OutputFactor output = delta_output(rows.classes, 3);
  const ComponentProblem problem{.x = {rows.x.data(), 80, 3, Eigen::OuterStride<>(3)},
                                 .kernel = rbf,
                                 .group = rows.group,
                                 .groups = 4,
                                 .output = &output,
                                 .epsilon = 1e-3};
  for (const double lam : {0.0, 0.1}) {
    for (const ComponentOptions& options : every_method(lam)) {
      const auto route = lam > 0 ? ExactRoute::cholesky : ExactRoute::matvec;
      const ExactComponents exact = exact_components(problem, options, route, context);
      const LowRankComponents ours = low_rank_components(sums, options, 1e-3, context);
      ASSERT_EQ(ours.spectrum.size(), exact.spectrum.size());
      const double largest = exact.spectrum.gamma.cwiseAbs().maxCoeff();
      EXPECT_LT((ours.spectrum.gamma - exact.spectrum.gamma).cwiseAbs().maxCoeff(), 1e-9 * largest);
      EXPECT_NEAR(ours.spectrum.tr_kq, exact.spectrum.tr_kq, 1e-10);
      EXPECT_NEAR(ours.spectrum.norm, exact.spectrum.norm, 1e-8 * exact.spectrum.norm);
      EXPECT_NEAR(ours.spectrum.distributional_variance, exact.spectrum.distributional_variance,
                  1e-8 * std::max(1.0, exact.spectrum.distributional_variance));
      Matrix z = project(map, ours, rows.x, false);
      for (Index j = 0; j < z.cols(); ++j)
        if (z.col(j).dot(exact.projections.col(j)) < 0) z.col(j) *= -1;
      EXPECT_LT((z - exact.projections).cwiseAbs().maxCoeff(), 1e-9 * z.cwiseAbs().maxCoeff())
          << "lam " << lam << " supervised " << options.supervised << " weight " << options.weight << " paper "
          << (options.form == ComponentForm::paper);
    }
  }
}

TEST(LowRankComponents, BlocksMergedInAnyOrderAreTheWhole) {
  const Context context = with_threads(2);
  // A large offset of the outputs: only shifted sums keep the digits.
  const Rows rows(700, 1000);
  const LowRankMap map = map_of(rows, 60, context);
  const Features x = Features::dense(rows.x);
  const LowRankSums whole = gather_low_rank_sums({x, map, rows.group, 4, LowRankOutputs::of_rows(rows.y)}, context);
  for (const auto& order : {std::vector<Index>{0, 1, 2, 3, 4, 5, 6}, {4, 2, 6, 0, 5, 3, 1}}) {
    LowRankSums merged;
    for (const Index part : order) {
      std::vector<Index> chosen(100);
      std::iota(chosen.begin(), chosen.end(), part * 100);
      const Features some = x.take(chosen);
      const Matrix y = rows.y.middleRows(part * 100, 100);
      const auto groups = std::span<const std::int32_t>(rows.group).subspan(static_cast<std::size_t>(part * 100), 100);
      const LowRankSums sums = gather_low_rank_sums({some, map, groups, 4, LowRankOutputs::of_rows(y)}, context);
      if (merged.rows == 0) {
        merged = sums;
      } else {
        merged.merge(sums);
      }
    }
    for (const ComponentOptions& options : every_method(0.1)) {
      const LowRankComponents a = low_rank_components(whole, options, 1e-3, context);
      const LowRankComponents b = low_rank_components(merged, options, 1e-3, context);
      ASSERT_EQ(a.theta.cols(), b.theta.cols());
      EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-13);
      EXPECT_LT((a.spectrum.gamma - b.spectrum.gamma).cwiseAbs().maxCoeff(), 1e-10 * a.spectrum.gamma.maxCoeff());
      const Matrix za = project(map, a, rows.x, false), zb = project(map, b, rows.x, false);
      for (Index j = 0; j < za.cols(); ++j) {
        const double sign = za.col(j).dot(zb.col(j)) < 0 ? -1 : 1;
        EXPECT_LT((za.col(j) - sign * zb.col(j)).cwiseAbs().maxCoeff(), 1e-8 * za.col(j).cwiseAbs().maxCoeff());
      }
    }
  }
}

TEST(LowRankComponents, SumsOfOtherShapesAreRefused) {
  LowRankSums sums(Vector::Zero(3), 2, Vector::Zero(1));
  EXPECT_EQ(code_of([&] { sums.merge(LowRankSums(Vector::Zero(4), 2, Vector::Zero(1))); }), "different_sums");
  EXPECT_EQ(code_of([&] { sums.merge(LowRankSums(Vector::Zero(3), 1, Vector::Zero(1))); }), "different_sums");
  EXPECT_EQ(code_of([&] { sums.merge(LowRankSums(Vector::Zero(3), 2, Vector::Zero(2))); }), "different_sums");
}

TEST(LowRankComponents, EqualBytesForAnyNumberOfThreads) {
  const Rows rows(5000);
  const ComponentOptions options{.supervised = true, .weight = 10};
  const LowRankMap map = map_of(rows, 50, with_threads(1));
  const LowRankComponents one =
      low_rank_components(sums_of(rows, map, with_threads(1)), options, 1e-4, with_threads(1));
  for (const int threads : {2, 7}) {
    const Context context = with_threads(threads);
    const LowRankComponents many = low_rank_components(sums_of(rows, map, context), options, 1e-4, context);
    EXPECT_EQ(one.theta, many.theta);
    EXPECT_EQ(one.mean, many.mean);
  }
}

TEST(LowRankComponents, DirectProjectionsAgreeWhereTheyAreSafe) {
  const Context context = with_threads(2);
  const Rows rows(600);
  const LowRankMap map = map_of(rows, 40, context);
  const LowRankComponents found =
      low_rank_components(sums_of(rows, map, context), {.weight = 10, .components = 3}, 1e-4, context);
  ASSERT_TRUE(direct_is_safe(map, found));
  EXPECT_LT((project(map, found, rows.x, true) - project(map, found, rows.x, false)).cwiseAbs().maxCoeff(), 1e-11);
  // Landmarks down to rounding: coefficients are as large as 1e6 and more.
  const LowRankMap whole = map_of(rows, 600, context);
  const LowRankComponents trailing =
      low_rank_components(sums_of(rows, whole, context), {.lam = 0, .components = 300}, 1e-4, context);
  EXPECT_FALSE(direct_is_safe(whole, trailing));
}

TEST(LowRankComponents, DistributionalVarianceFallsWithTheWeight) {
  const Context context = with_threads(2);
  const Rows rows(900);
  const LowRankMap map = map_of(rows, 80, context);
  const LowRankSums sums = sums_of(rows, map, context);
  for (const bool supervised : {false, true}) {
    double before = std::numeric_limits<double>::infinity();
    for (const double weight : {0.0, 1.0, 10.0, 100.0, 1e4}) {
      const LowRankComponents found =
          low_rank_components(sums, {.supervised = supervised, .weight = weight}, 1e-4, context);
      EXPECT_LT(found.spectrum.distributional_variance, before) << weight;
      before = found.spectrum.distributional_variance;
    }
    EXPECT_LT(before, 0.01);
  }
}

TEST(LowRankComponents, RefusesWhatItCannotSolve) {
  const Context context = with_threads(1);
  const Rows rows(60);
  const LowRankMap map = map_of(rows, 10, context);
  const LowRankSums sums = sums_of(rows, map, context);
  const auto code = [&](const ComponentOptions& options, double epsilon) {
    return code_of([&] { low_rank_components(sums, options, epsilon, context); });
  };
  EXPECT_EQ(code({.supervised = true, .lam = 0, .form = ComponentForm::paper}, 1e-4), "bad_option");
  EXPECT_EQ(code({.supervised = true}, 0), "bad_option");
  EXPECT_EQ(code({.weight = -1}, 1e-4), "bad_option");
  EXPECT_EQ(code({}, 1e-4), "");
  const Features x = Features::dense(rows.x);
  const LowRankSums empty = gather_low_rank_sums({x, map, rows.group, 5}, context);
  EXPECT_EQ(code_of([&] { low_rank_components(empty, {}, 1e-4, context); }), "empty_group");
  Matrix broken = rows.x;
  broken(17, 1) = std::numeric_limits<double>::quiet_NaN();
  try {
    const Features bad = Features::dense(broken, {"a", "b", "c"});
    gather_low_rank_sums({bad, map, rows.group, 4}, context);
    ADD_FAILURE() << "a missing value was summed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "non_finite");
    EXPECT_NE(std::string(error.what()).find("'b' is not a number in row 18"), std::string::npos) << error.what();
  }
}

TEST(LowRankComponents, EqualOutputsExplainNothing) {
  const Context context = with_threads(2);
  const Rows rows(700);
  const LowRankMap map = map_of(rows, 60, context);
  const Features x = Features::dense(rows.x);
  const std::vector<std::int32_t> one(700, 1);
  const Matrix y = Matrix::Constant(700, 1, 0.1);
  const LowRankMap of_y = fit_low_rank(Features::dense(y), rbf, {.rank = 5}, context).map;
  for (const LowRankOutputs& outputs :
       {LowRankOutputs::of_classes(one, 2), LowRankOutputs::of_rows(y), LowRankOutputs::of_map(of_y, y)}) {
    const LowRankSums sums = gather_low_rank_sums({x, map, rows.group, 4, outputs}, context);
    for (ComponentOptions options : every_method(0.1)) {
      if (options.supervised) {
        EXPECT_EQ(low_rank_components(sums, options, 1e-4, context).spectrum.size(), 0);
      }
    }
    EXPECT_EQ(low_rank_components(sums, {.supervised = true, .lam = 0}, 1e-4, context).spectrum.size(), 0);
  }
}

TEST(LowRankComponents, LabelsThatAreTheSameEverywhereExplainNothing) {
  // Each row stands there once in either class.
  const Context context = with_threads(2);
  Rows rows(700);
  for (Index i = 0; i < 350; ++i) rows.x.row(350 + i) = rows.x.row(i);
  for (std::size_t i = 0; i < 700; ++i) rows.classes[i] = i < 350 ? 0 : 1;
  const LowRankMap map = map_of(rows, 60, context);
  const LowRankSums sums = sums_of(rows, map, context);
  for (const ComponentOptions& options : every_method(0.1)) {
    if (options.supervised) {
      EXPECT_EQ(low_rank_components(sums, options, 1e-4, context).spectrum.size(), 0);
    }
  }
}

TEST(LowRankComponents, IdenticalRowsHaveNoComponentsAndBlasHasNothingToSay) {
  const Context context = with_threads(1);
  Rows rows(37);
  rows.x.setConstant(0.1);
  const LowRankMap map = map_of(rows, 10, context);
  const LowRankSums sums = sums_of(rows, map, context);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  for (const double lam : {0.0, 0.1}) {
    for (const ComponentOptions& options : every_method(lam)) {
      const LowRankComponents found = low_rank_components(sums, options, 1e-4, context);
      EXPECT_EQ(found.spectrum.size(), 0);
      EXPECT_EQ(found.theta.rows(), map.rank());
      EXPECT_EQ(found.mean.size(), map.rank());
      for (const bool direct : {direct_is_safe(map, found), true, false}) project(map, found, rows.x, direct);
    }
  }
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(LowRankComponents, LargeWeightsCostNoDigits) {
  // The limit of large weights: directions that tell domains apart are left out, the others stay as they are.
  const Context context = with_threads(2);
  const Rows rows(80);
  const LowRankMap map = map_of(rows, 80, context);
  const LowRankSums sums = sums_of(rows, map, context);
  const OutputFactor output = delta_output(rows.classes, 3);
  const ComponentProblem problem{.x = {rows.x.data(), 80, 3, Eigen::OuterStride<>(3)},
                                 .kernel = rbf,
                                 .group = rows.group,
                                 .groups = 4,
                                 .output = &output,
                                 .epsilon = 1e-3};
  for (ComponentOptions options : every_method(0.1)) {
    if (options.weight == 0) continue;
    options.weight = 1e10;
    const Matrix limit = exact_components(problem, options, ExactRoute::cholesky, context).projections;
    for (const double weight : {1e12, 1e14, 1e20, 1e100, 1e300}) {
      options.weight = weight;
      const LowRankComponents found = low_rank_components(sums, options, 1e-3, context);
      ASSERT_EQ(found.spectrum.size(), 2);
      Matrix z = project(map, found, rows.x, false);
      EXPECT_TRUE(z.allFinite() && found.spread.allFinite());
      for (Index j = 0; j < z.cols(); ++j)
        if (z.col(j).dot(limit.col(j)) < 0) z.col(j) *= -1;
      EXPECT_LT((z - limit).cwiseAbs().maxCoeff(), 1e-7 * limit.cwiseAbs().maxCoeff())
          << weight << " supervised " << options.supervised << " paper " << (options.form == ComponentForm::paper);
    }
  }
}

}  // namespace low_rank_components_test
}  // namespace ecotone
