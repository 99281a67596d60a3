// Golden cases 07 to 10: kernel mean matching, KLIEP, least squares, kernel densities, shares of classes.
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <array>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/random.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/solve/ratios/class_shift.h"
#include "ecotone/solve/ratios/kde_ratio.h"
#include "ecotone/solve/ratios/kliep.h"
#include "ecotone/solve/ratios/least_squares_ratio.h"
#include "ecotone/solve/ratios/mean_matching.h"
#include "error_code.h"
#include "golden_align.h"

namespace ecotone::test {
namespace align_ratios_test {

const Context run({.threads = 2, .seed = 1});

struct Samples {
  Json inputs;
  Matrix both;
  Index sources = 0;

  explicit Samples(const std::string& name) : inputs(golden_file("align", name).at("inputs")) {
    const Matrix s = matrix_of(inputs.at("Xs")), t = matrix_of(inputs.at("Xt"));
    both.resize(s.rows() + t.rows(), s.cols());
    both << s, t;
    sources = s.rows();
  }
  Features x() const { return Features::dense(both); }
  RatioBumps bumps(double sigma) const { return {{x(), sources}, matrix_of(inputs.at("centres")), sigma, run}; }
};

Matrix normal_rows(Index rows, Index cols) {
  Random random(6, "ratio rows");
  Matrix x(rows, cols);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.normal();
  return x;
}

TEST(MeanMatching, Golden) {
  const Samples in("07_kmm");
  for (const Json& each : align_tasks("07_kmm", "kmm")) {
    AlignTask task(each);
    const MeanMatching found = mean_matching(in.x(), in.sources,
                                             {.sigma = std::sqrt(0.5 / task.params().at("gamma").get<double>()),
                                              .most = task.params().at("B"),
                                              .slack = task.params().at("eps"),
                                              .tolerance = 1e-13,
                                              .steps = 500000},
                                             run);
    task.expect("objective", found.objective);
    task.expect("weights", found.weights);
    EXPECT_LE(found.gap, 1e-8);
  }
}

/// Where no source row is near the target there is little to match, and it ends all the same.
TEST(MeanMatching, EndsWhateverTheTargetIs) {
  for (const double away : {3.0, 30.0, 1e5})
    for (const int rank : {1, 200}) {
      Matrix x = normal_rows(200, 3);
      x.bottomRows(100).col(0).array() += away;
      const MeanMatching found = mean_matching(Features::dense(x), 100, {.sigma = 1.0, .rank = rank}, run);
      EXPECT_TRUE(found.weights.allFinite()) << away << " " << rank;
      EXPECT_GE(found.weights.minCoeff(), 0);
      EXPECT_TRUE(found.converged || found.iterations < 20000) << away << " " << rank << " " << found.gap;
    }
}

TEST(MeanMatching, ProjectsAndCertifiesExactly) {
  const WeightBox box{2, 3, 4};
  Vector v(4);
  v << 5, 1, -1, 0.5;
  const Vector w = nearest_in_box(v, box);
  EXPECT_NEAR(w.sum(), 3.5, 1e-14);  // inside: only clipped
  const Vector high = nearest_in_box(v + Vector::Constant(4, 3), box);
  EXPECT_NEAR(high.sum(), 4, 1e-12);
  const Vector low = nearest_in_box(v - Vector::Constant(4, 5), box);
  EXPECT_NEAR(low.sum(), 3, 1e-12);
  Vector gradient(4);
  gradient << -3, -1, 2, 5;
  EXPECT_DOUBLE_EQ(least_over_box(gradient, box), -8);
  gradient << 1, 2, 3, 4;
  EXPECT_DOUBLE_EQ(least_over_box(gradient, box), 2 * 1 + 1 * 2);
}

TEST(Kliep, Golden) {
  const Samples in("08_kliep");
  for (const Json& each : align_tasks("08_kliep", "kliep")) {
    AlignTask task(each);
    const KliepFit found = fit_kliep(in.bumps(task.params().at("sigma")), 1e-13, "test", run);
    task.expect("objective", found.objective);
    task.expect("target_ratio", found.target_ratio);
    task.expect("weights", found.source_ratio);
    task.expect("alpha", found.alpha);
    EXPECT_LT(found.certificate, 1e-10);
    const KliepFit rough = fit_kliep(in.bumps(task.params().at("sigma")), 1e-4, "test", run);
    EXPECT_GE(rough.objective + rough.certificate, found.objective - 1e-12);
    EXPECT_NEAR(found.source_ratio.mean(), 1, 1e-10);
  }
}

TEST(LeastSquaresRatio, Golden) {
  const Samples in("09_rulsif");
  for (const Json& each : align_tasks("09_rulsif", "rulsif")) {
    AlignTask task(each);
    const Json& params = task.params();
    const LeastSquaresRatio found =
        fit_least_squares_ratio(in.bumps(params.at("sigma")), params.at("alpha"), params.at("lam"), "test", run);
    task.expect("theta", found.theta);
    task.expect("theta_unclipped", found.unclipped);
    task.expect("weights", found.source_ratio);
    task.expect("loo", found.left_out);
  }
}

TEST(LeastSquaresRatio, ChoosesTheSmallestLeftOutScore) {
  const Samples in("09_rulsif");
  const KernelRatioOptions options{.alpha = 0.1, .centres = 8};
  const KernelRatio found = least_squares_ratio({in.x(), in.sources}, options, run);
  EXPECT_GT(found.sigma, 0);
  EXPECT_GT(found.lam, 0);
  EXPECT_TRUE((found.ratio.array() >= 0).all());
  const KernelRatio fixed = least_squares_ratio(
      {in.x(), in.sources}, {.sigma = found.sigma, .lam = found.lam, .alpha = 0.1, .centres = 8}, run);
  EXPECT_DOUBLE_EQ(fixed.score, found.score);
  const KernelRatio one = least_squares_ratio({in.x(), in.sources}, options, Context({.threads = 1, .seed = 1}));
  EXPECT_TRUE(one.ratio == found.ratio);
}

/// With both options given nothing is chosen by rows left out, and one target row has a ratio: here by hand.
TEST(LeastSquaresRatio, OfOneTargetRowNeedsBothOptions) {
  Matrix x = normal_rows(21, 2);
  const RatioRows rows{Features::dense(x), 20};
  const KernelRatio found = least_squares_ratio(rows, {.sigma = 1.0, .lam = 0.1, .alpha = 0.2}, run);
  EXPECT_TRUE(std::isnan(found.score));
  const Vector phi = (-0.5 * (x.topRows(20).rowwise() - x.row(20)).rowwise().squaredNorm().array()).exp();
  const double theta = 1 / (0.2 + 0.8 * phi.squaredNorm() / 20 + 0.1);
  EXPECT_LT((found.ratio - theta * phi).norm(), 1e-9);
  for (const KernelRatioOptions& options :
       {KernelRatioOptions{.sigma = 1.0, .alpha = 0.2}, {.lam = 0.1, .alpha = 0.2}, {.alpha = 0.2}})
    EXPECT_EQ(code_of([&] { least_squares_ratio(rows, options, run); }), "too_few_rows");
}

TEST(Kliep, ChoosesAWidth) {
  const Samples in("08_kliep");
  const KernelRatio found = kliep_ratio({in.x(), in.sources}, {.centres = 8}, run);
  EXPECT_TRUE(found.converged);
  EXPECT_GT(found.sigma, 0);
  EXPECT_NEAR(found.ratio.mean(), 1, 1e-10);
}

/// More rows than bumps are kept for: what is added block by block is what products of the whole give.
TEST(LeastSquaresRatio, OfManyRowsIsThatOfWholeMatrices) {
  const Matrix x = normal_rows(9000, 3), centres = x.bottomRows(150);
  const Index sources = 5000, targets = 4000;
  const RatioBumps bumps({Features::dense(x), sources}, centres, 1.5, run);
  Matrix phi(x.rows(), 150);
  for (Index i = 0; i < x.rows(); ++i)
    phi.row(i) = (-(centres.rowwise() - x.row(i)).rowwise().squaredNorm().array() / 4.5).exp().transpose();
  const Matrix of_s = phi.topRows(sources), of_t = phi.bottomRows(targets);
  Matrix h = 0.3 / targets * (of_t.transpose() * of_t) + 0.7 / sources * (of_s.transpose() * of_s);
  h.diagonal().array() += 0.1;
  const LeastSquaresRatio found = fit_least_squares_ratio(bumps, 0.3, 0.1, "test", run);
  const Vector mean = of_t.colwise().mean().transpose();
  EXPECT_LT((h * found.unclipped - mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((of_s * found.theta - found.source_ratio).cwiseAbs().maxCoeff(), 1e-12);
  const LeastSquaresRatio again = fit_least_squares_ratio(bumps, 0.3, 0.1, "test", Context({.threads = 7}));
  EXPECT_TRUE(again.theta == found.theta);
  EXPECT_EQ(again.left_out, found.left_out);
}

/// J by refitting without each row, where source rows count differently.
TEST(LeastSquaresRatio, LeavesRowsOutByTheirMasses) {
  const Samples in("09_rulsif");
  const Index ns = in.sources, nt = in.both.rows() - ns;
  RatioRows rows{in.x(), ns, Vector::Constant(ns, 0.5)};
  rows.mass.tail(ns / 2).setConstant(1.5);
  const Matrix centres = matrix_of(in.inputs.at("centres"));
  const RatioBumps bumps(rows, centres, 1, run);
  RatioBumps::Workspace workspace;
  const RatioBumps::Block all = bumps.block(0, workspace);
  const double a = 0.1, lam = 0.1;
  const auto theta = [&](Vector of_s, Vector of_t) {
    of_s /= of_s.sum();
    of_t /= of_t.sum();
    Matrix h = a * all.target.transpose() * of_t.asDiagonal() * all.target +
               (1 - a) * all.source.transpose() * of_s.asDiagonal() * all.source;
    h.diagonal().array() += lam;
    return Vector(h.llt().solve(all.target.transpose() * of_t).cwiseMax(0));
  };
  const Vector ones = Vector::Ones(nt);
  double score = 0;
  for (Index t = 0; t < nt; ++t) {
    Vector without = ones;
    without[t] = 0;
    const double r = all.target.row(t).dot(theta(rows.mass, without));
    score += (0.5 * a * r * r - r) / static_cast<double>(nt);
  }
  for (Index s = 0; s < ns; ++s) {
    Vector without = rows.mass;
    without[s] = 0;
    const double r = all.source.row(s).dot(theta(without, ones));
    score += 0.5 * (1 - a) * rows.mass[s] * r * r / static_cast<double>(ns);
  }
  const LeastSquaresRatio found = fit_least_squares_ratio(bumps, a, lam, "test", run);
  EXPECT_NEAR(found.left_out, score, 1e-12);
  EXPECT_LT((found.theta - theta(rows.mass, ones)).norm(), 1e-12);
}

TEST(MeanMatching, ARowMayCountForSeveral) {
  Vector v(3);
  v << 5, 1, 0.2;
  WeightBox box{2, 4, 4};
  box.mass = Vector(3);
  box.mass << 1, 0.25, 1.75;
  const Vector w = nearest_in_box(v, box);
  // 2 and 0.5 at their caps, and 1.5 left for the last one.
  EXPECT_LT((w - Vector::Map(std::array{2.0, 0.5, 1.5}.data(), 3)).norm(), 1e-12);
  EXPECT_DOUBLE_EQ(least_over_box(Vector::LinSpaced(3, 1, 3), box), 2 * 1 + 0.5 * 2 + 1.5 * 3);
}

/// The target is so far away that narrow bumps at its rows are 0 at all source rows.
TEST(Kliep, PassesOverWidthsThatReachNoSourceRow) {
  Matrix x = normal_rows(206, 2);
  x.bottomRows(6).array() += 60;
  x.row(205).array() += 60;
  const Features rows = Features::dense(x);
  const double median = median_bandwidth(rows, run).sigma;
  EXPECT_EQ(code_of([&] { kliep_ratio({rows, 200}, {.sigma = 0.5 * median}, run); }), "zero_weights");
  const KernelRatio found = kliep_ratio({rows, 200}, {}, run);
  EXPECT_GT(found.sigma, 0.5 * median);
  EXPECT_TRUE(found.ratio.allFinite());
  EXPECT_NEAR(found.ratio.mean(), 1, 1e-10);
  x.bottomRows(6).array() += 1e6;
  EXPECT_EQ(code_of([&] { kliep_ratio({Features::dense(x), 200}, {}, run); }), "zero_weights");
}

TEST(KdeRatio, Golden) {
  const Samples in("10_kde_tars");
  for (const Json& each : align_tasks("10_kde_tars", "kde_ratio")) {
    AlignTask task(each);
    const KdeRatioOptions options{.skip_self = task.params().at("skip_self")};
    task.expect("weights", Vector(kde_log_ratio(in.x(), in.sources, options, run).array().exp()));
  }
}

TEST(KdeRatio, LeavesConstantColumnsOutAndRefusesMany) {
  const Samples in("10_kde_tars");
  Matrix wider(in.both.rows(), 3);
  wider << in.both, Vector::Constant(in.both.rows(), 7);
  EXPECT_TRUE(kde_log_ratio(Features::dense(wider), in.sources, {}, run) == kde_log_ratio(in.x(), in.sources, {}, run));
  const Matrix many = Matrix::Random(30, 11);
  EXPECT_EQ(code_of([&] { kde_log_ratio(Features::dense(many), 20, {}, run); }), "too_many_columns");
}

TEST(KdeRatio, RefusesMoreRowsThanPairsCanBeComparedOf) {
  const Features rows = Features::dense(Matrix::Zero(20011, 1));
  EXPECT_EQ(code_of([&] { kde_log_ratio(rows, 20001, {}, run); }), "too_many_rows");
  EXPECT_EQ(code_of([&] { kde_log_ratio(rows, 10, {}, run); }), "too_many_rows");
  EXPECT_EQ(code_of([&] { kde_log_ratio(rows, 20000, {}, run); }), "none");  // one column, and it is constant
}

TEST(ClassShift, Golden) {
  const Samples in("10_kde_tars");
  const std::vector<std::int32_t> cls = indices_of(in.inputs.at("y"));
  for (const Json& each : align_tasks("10_kde_tars", "tars")) {
    AlignTask task(each);
    const double sigma = std::sqrt(0.5 / task.params().at("gamma").get<double>());
    const ClassShift found = class_shift(in.x(), cls, 3, sigma, "test", run);
    task.expect("target_prior", found.shares);
    task.expect("mmd2", found.mmd2);
    EXPECT_TRUE(found.identified());
    Vector weights(std::ssize(cls));
    for (Index i = 0; i < weights.size(); ++i) {
      const auto own = static_cast<double>(std::ranges::count(cls, cls[at(i)]));
      weights[i] = found.shares[cls[at(i)]] * static_cast<double>(cls.size()) / own;
    }
    task.expect("weights", weights);
  }
}

TEST(ClassShift, MinimumOverTheSimplexHoldsItsConditions) {
  Random random(4, "simplex");
  for (int draw = 0; draw < 20; ++draw) {
    const Index n = 2 + draw % 7;
    Matrix root(n, n);
    Vector b(n);
    for (Index i = 0; i < root.size(); ++i) root.data()[i] = random.normal();
    for (Index i = 0; i < n; ++i) b[i] = 3 * random.normal();
    const Matrix a = root * root.transpose();
    const Vector p = simplex_minimum(a, b), slope = a * p - b;
    EXPECT_NEAR(p.sum(), 1, 1e-12);
    EXPECT_GE(p.minCoeff(), 0);
    EXPECT_LT(p.dot(slope) - slope.minCoeff(), 1e-9);
  }
}

}  // namespace align_ratios_test
}  // namespace ecotone::test
