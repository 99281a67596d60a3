#include "ecotone/kernels/low_rank.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "ecotone/base/error.h"

namespace ecotone {
namespace low_rank_test {

const Context two({.threads = 2});

Matrix normal_rows(Index rows, Index cols, std::uint64_t seed = 3) {
  Random random(seed, "low rank rows");
  Matrix x(rows, cols);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.normal();
  return x;
}

Matrix features_of(const LowRankMap& map, const Matrix& x) {
  Matrix rho(x.rows(), map.rank());
  LowRankMap::Workspace workspace;
  map.features(x, rho, workspace);
  return rho;
}

Matrix centred(Matrix k) {
  centre_gram(k, two);
  return k;
}

std::string code_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return "";
}

class LowRankKernels : public testing::TestWithParam<Kernel> {};

TEST_P(LowRankKernels, AsManyLandmarksAsRowsGiveTheGramMatrix) {
  const Matrix x = normal_rows(90, 3);
  const Matrix fresh = normal_rows(20, 3, 4);
  const Kernel kernel = GetParam();
  const Matrix k = centred(kernel_gram(kernel, x, two));
  for (const auto kind : {LowRankKind::pivoted, LowRankKind::uniform, LowRankKind::greedy}) {
    const LowRankFit fit = fit_low_rank(Features::dense(x), kernel, {.kind = kind, .rank = 90}, two);
    const Matrix rho = features_of(fit.map, x);
    EXPECT_LT(fit.residual, 1e-11);
    EXPECT_LT((centred(rho * rho.transpose()) - k).cwiseAbs().maxCoeff(), 1e-10 * k.cwiseAbs().maxCoeff());
    if (kernel.kind == KernelKind::linear) continue;  // equal after centring alone
    const Matrix across = kernel_gram(kernel, fresh, x, two);
    EXPECT_LT((features_of(fit.map, fresh) * rho.transpose() - across).cwiseAbs().maxCoeff(),
              1e-8 * across.cwiseAbs().maxCoeff());
  }
}

INSTANTIATE_TEST_SUITE_P(All, LowRankKernels,
                         testing::Values(Kernel{.kind = KernelKind::rbf, .sigma = 0.8},
                                         Kernel{.kind = KernelKind::laplacian, .sigma = 2},
                                         Kernel{.kind = KernelKind::linear},
                                         Kernel{.kind = KernelKind::poly, .degree = 3, .scale = 0.5}));

TEST(LowRank, ResidualIsThatOfTheTraceAndFallsWithTheRank) {
  const Matrix x = normal_rows(700, 4);
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 3};
  for (const auto kind : {LowRankKind::pivoted, LowRankKind::uniform, LowRankKind::greedy}) {
    double before = 1;
    for (const Index rank : {5, 40, 150}) {
      const LowRankFit fit = fit_low_rank(Features::dense(x), kernel, {.kind = kind, .rank = rank}, two);
      EXPECT_EQ(fit.map.rank(), rank);
      EXPECT_EQ(fit.sample, 700);
      EXPECT_NEAR(fit.residual, 1 - features_of(fit.map, x).squaredNorm() / 700, 1e-10);
      EXPECT_LT(fit.residual, before);
      before = fit.residual;
    }
  }
}

TEST(LowRank, StopsAtTheFirstLandmarkThatReachesTheResidual) {
  const Features x = Features::dense(normal_rows(600, 3));
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 2};
  for (const auto kind : {LowRankKind::pivoted, LowRankKind::uniform, LowRankKind::greedy}) {
    const LowRankFit fit = fit_low_rank(x, kernel, {.kind = kind, .rank = 600, .residual = 1e-3}, two);
    EXPECT_LE(fit.residual, 1e-3);
    const LowRankFit less = fit_low_rank(x, kernel, {.kind = kind, .rank = fit.map.rank() - 1}, two);
    EXPECT_GT(less.residual, 1e-3);
  }
}

TEST(LowRank, KernelsOfFiniteRankAndEqualRowsGiveFewerLandmarks) {
  const Matrix x = normal_rows(200, 4);
  const LowRankOptions options{.rank = 100};
  EXPECT_EQ(fit_low_rank(Features::dense(x), {.kind = KernelKind::linear}, options, two).map.rank(), 4);
  // Polynomials of degree 2 in 4 variables: 15 monomials.
  EXPECT_EQ(fit_low_rank(Features::dense(x), {.kind = KernelKind::poly, .degree = 2}, options, two).map.rank(), 15);
  Matrix repeated(200, 4);
  for (Index i = 0; i < 200; ++i) repeated.row(i) = x.row(i % 7);
  const LowRankFit fit = fit_low_rank(Features::dense(repeated), {.kind = KernelKind::rbf}, options, two);
  EXPECT_EQ(fit.map.rank(), 7);
  EXPECT_LT(fit.residual, 1e-12);
}

TEST(LowRank, NearlyEqualRowsDoNotBlowUp) {
  Matrix x = normal_rows(150, 2);
  for (Index i = 75; i < 150; ++i) x.row(i) = x.row(i - 75).array() + 1e-9;
  for (const auto kind : {LowRankKind::pivoted, LowRankKind::uniform, LowRankKind::greedy}) {
    const Kernel kernel{.kind = KernelKind::rbf, .sigma = 5};
    const LowRankFit fit = fit_low_rank(Features::dense(x), kernel, {.kind = kind, .rank = 150}, two);
    EXPECT_LT(fit.map.rank(), 150);
    const Vector diagonal = fit.map.lower().diagonal();
    EXPECT_LT(diagonal.maxCoeff() / diagonal.minCoeff(), 4e6);
    const Matrix rho = features_of(fit.map, x);
    // Solving with the factor of 150 rows magnifies rounding by the ratio of its pivots where these come in any
    // order; in falling order it does not.
    const double rounding = std::numeric_limits<double>::epsilon() * diagonal.maxCoeff() / diagonal.minCoeff();
    const double bound = kind == LowRankKind::uniform ? 150 * rounding : 1e-12;
    EXPECT_LT((rho * rho.transpose() - kernel_gram(kernel, x, two)).cwiseAbs().maxCoeff(), bound);
  }
}

TEST(LowRank, ALargeOffsetCostsNoDigits) {
  // Quarters stay exact beside 2^30.
  const Matrix x = (normal_rows(80, 3) * 4).array().round() / 4;
  const Matrix moved = x.array() + 1073741824.0;
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear}) {
    const Kernel kernel{.kind = kind, .sigma = 2};
    const LowRankMap near = fit_low_rank(Features::dense(x), kernel, {.rank = 30}, two).map;
    const LowRankMap far = fit_low_rank(Features::dense(moved), kernel, {.rank = 30}, two).map;
    const Matrix a = features_of(near, x), b = features_of(far, moved);
    EXPECT_LT((centred(a * a.transpose()) - centred(b * b.transpose())).cwiseAbs().maxCoeff(), 1e-7);
  }
}

TEST(LowRank, EqualBytesForAnyNumberOfThreads) {
  const Features x = Features::dense(normal_rows(3000, 5));
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 2};
  for (const auto kind : {LowRankKind::pivoted, LowRankKind::uniform, LowRankKind::greedy, LowRankKind::fourier}) {
    const LowRankOptions options{.kind = kind, .rank = 70, .sample = 2000};
    const LowRankFit one = fit_low_rank(x, kernel, options, Context({.threads = 1}));
    for (const int threads : {2, 7}) {
      const LowRankFit many = fit_low_rank(x, kernel, options, Context({.threads = threads}));
      EXPECT_EQ(one.map.points(), many.map.points());
      EXPECT_EQ(one.map.lower(), many.map.lower());
      EXPECT_EQ(one.residual, many.residual);
    }
  }
}

TEST(LowRank, RejectionsKeepTheLawOfDrawingOneAfterTheOther) {
  // P(first i, then j) = k_ii / tr(K) s_j / sum s, s the diagonal of K less what i explains.
  Matrix x(4, 1);
  x << 0, 0.3, 1.5, 4;
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 1};
  const Matrix k = kernel_gram(kernel, x, two);
  std::array<std::array<double, 4>, 4> expected{}, counted{};
  for (Index i = 0; i < 4; ++i) {
    Vector left(4);
    for (Index j = 0; j < 4; ++j) left[j] = k(j, j) - k(i, j) * k(i, j);
    for (Index j = 0; j < 4; ++j)
      expected[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = 0.25 * left[j] / left.sum();
  }
  constexpr int draws = 4000;
  const Features features = Features::dense(x);
  const auto place = [&](double value) {
    for (std::size_t i = 0; i < 4; ++i)
      if (x(static_cast<Index>(i), 0) == value) return i;
    return std::size_t{4};
  };
  for (int seed = 0; seed < draws; ++seed) {
    const Context context({.threads = 1, .seed = static_cast<std::uint64_t>(seed)});
    const LowRankMap map = fit_low_rank(features, kernel, {.rank = 2}, context).map;
    counted.at(place(map.points()(0, 0))).at(place(map.points()(1, 0))) += 1.0 / draws;
  }
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(counted[i][j], expected[i][j], 0.02) << i << " " << j;
}

TEST(LowRank, FourierFeaturesApproachTheKernel) {
  const Features x = Features::dense(normal_rows(300, 3));
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian}) {
    const Kernel kernel{.kind = kind, .sigma = 4};
    const double few = fit_low_rank(x, kernel, {.kind = LowRankKind::fourier, .rank = 100}, two).residual;
    const double many = fit_low_rank(x, kernel, {.kind = LowRankKind::fourier, .rank = 6400}, two).residual;
    EXPECT_LT(few, 0.3);
    // 64 times as many: an eighth of the error, but for chance
    EXPECT_LT(many, few / 4);
  }
}

TEST(LowRank, RefusesWhatItCannotDo) {
  const Features x = Features::dense(normal_rows(10, 2));
  const Kernel rbf{.kind = KernelKind::rbf};
  EXPECT_EQ(code_of([&] { fit_low_rank(x, rbf, {.rank = 0}, two); }), "bad_option");
  EXPECT_EQ(code_of([&] { fit_low_rank(x, rbf, {.residual = -1}, two); }), "bad_option");
  EXPECT_EQ(code_of([&] { fit_low_rank(x, {.kind = KernelKind::rbf, .sigma = 0}, {}, two); }), "bad_option");
  EXPECT_EQ(code_of([&] { fit_low_rank(x, {.kind = KernelKind::poly}, {.kind = LowRankKind::fourier}, two); }),
            "bad_option");
  EXPECT_EQ(code_of([&] { fit_low_rank(x, rbf, {.kind = LowRankKind::fourier, .residual = 0.1}, two); }), "bad_option");
  EXPECT_EQ(code_of([&] { fit_low_rank(Features::dense(Matrix(0, 2)), rbf, {}, two); }), "no_rows");
  EXPECT_EQ(code_of([&] { fit_low_rank(Features::dense(Matrix::Zero(5, 2)), {.kind = KernelKind::linear}, {}, two); }),
            "no_variation");
  Matrix broken = normal_rows(10, 2);
  broken(3, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(code_of([&] { fit_low_rank(Features::dense(broken), rbf, {}, two); }), "non_finite");
}

TEST(LowRank, ArraysOfAMapMakeItAgainAndBadOnesAreRefused) {
  const Matrix x = normal_rows(50, 2);
  const LowRankMap map = fit_low_rank(Features::dense(x), {.kind = KernelKind::rbf}, {.rank = 10}, two).map;
  const auto again = LowRankMap::of_landmarks(map.kernel(), map.origin(), map.points(), map.lower());
  EXPECT_EQ(features_of(map, x), features_of(again, x));
  Matrix negative = map.lower();
  negative(4, 4) = 0;
  const auto make = [&](const Vector& origin, const Matrix& points, const Matrix& lower) {
    return code_of([&] { LowRankMap::of_landmarks(map.kernel(), origin, points, lower); });
  };
  EXPECT_EQ(make(map.origin(), map.points(), negative), "bad_map");
  EXPECT_EQ(make(map.origin(), map.points().topRows(9), map.lower()), "bad_map");
  EXPECT_EQ(make(Vector::Zero(3), map.points(), map.lower()), "bad_map");
  EXPECT_EQ(make(map.origin(), Matrix(0, 2), Matrix(0, 0)), "bad_map");
  const Matrix w = normal_rows(4, 2);
  EXPECT_EQ(code_of([&] { LowRankMap::of_frequencies(map.kernel(), map.origin(), w, Vector::Zero(3)); }), "bad_map");
}

TEST(LowRank, AFarRowCostsTheOthersNoDigits) {
  const Matrix x = normal_rows(80, 3);
  for (const auto kind : {KernelKind::rbf, KernelKind::laplacian}) {
    const Kernel kernel{.kind = kind, .sigma = 2};
    const Matrix k = kernel_gram(kernel, x, two);
    for (const auto map : {LowRankKind::pivoted, LowRankKind::fourier}) {
      const LowRankOptions options{.kind = map, .rank = 81};
      const Matrix near = features_of(fit_low_rank(Features::dense(x), kernel, options, two).map, x);
      for (const double far : {1e4, 1e20}) {
        Matrix with = Matrix::Constant(81, 3, far);
        with.topRows(80) = x;
        const Matrix rho = features_of(fit_low_rank(Features::dense(with), kernel, options, two).map, x);
        // Fourier features see other phases from another origin: their law is the same, not their values.
        const double bound = map == LowRankKind::pivoted ? 1e-10 : 2 * (near * near.transpose() - k).norm();
        EXPECT_LT((rho * rho.transpose() - k).norm(), bound) << kernel_name(kind) << " " << far;
      }
    }
  }
}

TEST(LowRank, FourierResidualIsOfRowsFromAllOverTheSample) {
  // The first 1,000 rows are equal: their kernel is 1 and the error of the map there is that of one number.
  Matrix x = normal_rows(20000, 2) * 3;
  x.topRows(1000).rowwise() = x.row(0).eval();
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 1};
  const LowRankFit fit = fit_low_rank(Features::dense(x), kernel, {.kind = LowRankKind::fourier, .rank = 60}, two);
  EXPECT_EQ(fit.sample, 1000);
  const Matrix rest = x.middleRows(9000, 1000);
  const Matrix k = kernel_gram(kernel, rest, two);
  const Matrix rho = features_of(fit.map, rest);
  const double expected = (k - rho * rho.transpose()).norm() / k.norm();
  EXPECT_NEAR(fit.residual, expected, 0.25 * expected);
}

}  // namespace low_rank_test
}  // namespace ecotone
