// What all linear models promise: invariances, solvers that agree, errors by name.
#include "ecotone/solve/linear/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/sparse_support.h"
#include "ecotone/base/error.h"
#include "solve/linear/logistic_support.h"

namespace ecotone {
namespace linear_test {

constexpr LinearFamily all_families[] = {LinearFamily::logistic, LinearFamily::softmax, LinearFamily::probit,
                                         LinearFamily::poisson, LinearFamily::least_squares};

/// Rows with labels of every kind.
struct Data {
  Matrix x;
  std::vector<std::int32_t> cls;
  std::vector<double> value;
  Vector weight;
  Index classes = 2;
};

Data draw(Index rows, Index cols, Index classes = 2, std::uint64_t key = 0) {
  const Sample sample = draw_sample(rows, cols, classes, key);
  Data data{sample.x, sample.cls, {}, Vector(), classes};
  Random random(3, "linear.labels", key);
  for (Index i = 0; i < rows; ++i) {
    const double score = 0.3 * data.x.row(i).head(std::min<Index>(cols, 5)).sum();
    data.value.push_back(static_cast<double>(random.poisson(std::exp(std::min(score, 5.0)))));
  }
  return data;
}

struct Settings {
  LinearFamily family = LinearFamily::logistic;
  double l1 = 0;
  double l2 = 0.02;
  LinearSolver solver = LinearSolver::automatic;
  double tolerance = 0;
  bool penalise_offset = false;
  bool norm_by_weights = false;
};

LinearProblem problem_of(const Features& x, const Data& data, const Settings& settings) {
  LinearProblem problem{.x = x, .cls = data.cls, .classes = data.classes, .weight = data.weight};
  problem.value = data.value;
  problem.family = settings.family;
  problem.l1 = settings.l1;
  problem.l2 = settings.l2;
  problem.solver = settings.solver;
  problem.tolerance = settings.tolerance;
  problem.penalise_offset = settings.penalise_offset;
  problem.norm_by_weights = settings.norm_by_weights;
  return problem;
}

LinearFit fit(const Features& x, const Data& data, const Settings& settings, int threads = 2) {
  return fit_linear(problem_of(x, data, settings), Context(Context::Settings{.threads = threads}));
}
LinearFit fit(const Data& data, const Settings& settings) { return fit(Features::dense(data.x), data, settings); }

std::string code(const Data& data, const Settings& settings) {
  try {
    fit(data, settings);
  } catch (const Error& error) {
    return error.code();
  }
  return "";
}

/// Penalties of both kinds for every family.
std::vector<Settings> every_setting() {
  std::vector<Settings> all;
  for (const LinearFamily family : all_families) {
    all.push_back({.family = family});
    all.push_back({.family = family, .l1 = 0.02, .l2 = 0.01});
  }
  return all;
}

TEST(Linear, TheOrderOfRowsDoesNotMatter) {
  for (const Settings& settings : every_setting()) {
    Data data = draw(700, 4);
    const LinearFit before = fit(data, settings);
    Random random(2, "order");
    const std::vector<Index> order = random.permutation(700);
    Data shuffled = data;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto from = static_cast<std::size_t>(order[i]);
      shuffled.x.row(static_cast<Index>(i)) = data.x.row(order[i]);
      shuffled.cls[i] = data.cls[from];
      shuffled.value[i] = data.value[from];
    }
    EXPECT_LT(gap(before, fit(shuffled, settings)), 1e-9) << static_cast<int>(settings.family);
  }
}

TEST(Linear, WeightTwoIsADuplicatedRow) {
  for (Settings settings : every_setting()) {
    settings.norm_by_weights = true;
    Data data = draw(300, 3);
    data.weight = Vector::Ones(300);
    Data doubled = data;
    doubled.weight = Vector();
    for (Index i = 0; i < 300; i += 3) {
      data.weight[i] = 2;
      doubled.x.conservativeResize(doubled.x.rows() + 1, 3);
      doubled.x.bottomRows(1) = data.x.row(i);
      doubled.cls.push_back(data.cls[static_cast<std::size_t>(i)]);
      doubled.value.push_back(data.value[static_cast<std::size_t>(i)]);
    }
    EXPECT_LT(gap(fit(data, settings), fit(doubled, settings)), 1e-9) << static_cast<int>(settings.family);
  }
}

TEST(Linear, ScalingAColumnScalesItsWeightWhereNothingIsPenalised) {
  for (const LinearFamily family : all_families) {
    const Data data = draw(500, 3);
    Data scaled = data;
    scaled.x.col(1) *= 1000;
    const LinearFit a = fit(data, {.family = family, .l2 = 0});
    LinearFit b = fit(scaled, {.family = family, .l2 = 0});
    b.weights.col(1) *= 1000;
    EXPECT_LT(gap(a, b), 1e-9) << static_cast<int>(family);
  }
}

TEST(Linear, ScalingEverythingScalesThePenalty) {
  // rho ||w||^2 with x -> c x is rho / c^2, alpha / c.
  for (const Settings& settings : every_setting()) {
    const Data data = draw(400, 3);
    Data scaled = data;
    scaled.x *= 7;
    Settings stronger = settings;
    stronger.l1 *= 7;
    stronger.l2 *= 49;
    LinearFit b = fit(scaled, stronger);
    b.weights *= 7;
    EXPECT_LT(gap(fit(data, settings), b), 1e-9) << static_cast<int>(settings.family);
  }
}

TEST(Linear, AllSolversMeet) {
  const Data data = draw(3000, 40);
  for (const LinearFamily family : all_families) {
    const LinearFit best = fit(data, {.family = family, .solver = LinearSolver::irls});
    for (const LinearSolver solver : {LinearSolver::lbfgs, LinearSolver::newton, LinearSolver::prox_newton}) {
      const LinearFit other = fit(data, {.family = family, .solver = solver});
      EXPECT_TRUE(other.converged) << solver_name(solver);
      EXPECT_EQ(other.solver, solver);
      EXPECT_LT(gap(best, other), 1e-7) << static_cast<int>(family) << " " << solver_name(solver);
      EXPECT_NEAR(best.risk, other.risk, 1e-12);
    }
  }
}

TEST(Linear, SparseIsDense) {
  Data data = draw(1500, 30, 3);
  data.x = (data.x.array().abs() > 1.0).select(data.x, 0.0);
  for (const LinearFamily family : {LinearFamily::logistic, LinearFamily::poisson}) {
    for (const double l1 : {0.0, 0.01}) {
      const LinearFit dense = fit(data, {.family = family, .l1 = l1});
      const LinearFit sparse = fit(Features::sparse(test::to_csr(data.x)), data, {.family = family, .l1 = l1});
      EXPECT_LT(gap(dense, sparse), 1e-7) << static_cast<int>(family) << " " << l1;
      EXPECT_NEAR(dense.risk, sparse.risk, 1e-11);
    }
  }
}

TEST(Linear, TheResidualIsTheSubgradientByDefinition) {
  // Column 0 has no effect beyond the penalty, others have: dR/dw_j + alpha sign(w_j) = 0, or |dR/dw_j| <= alpha.
  const Data data = draw(800, 12);
  const double alpha = 0.03;
  const LinearFit best = fit(data, {.l1 = alpha, .l2 = 0.01});
  const Vector score = (data.x * best.weights.row(0).transpose()).array() + best.offset[0];
  Vector residual(800);
  for (Index i = 0; i < 800; ++i) {
    const double y = data.cls[static_cast<std::size_t>(i)] == 1 ? 1 : -1;
    residual[i] = -y / (1 + std::exp(y * score[i])) / 800;
  }
  const Vector gradient = data.x.transpose() * residual + 0.02 * best.weights.row(0).transpose();
  Index zeros = 0;
  for (Index j = 0; j < 12; ++j) {
    const double w = best.weights(0, j);
    if (w == 0) {
      ++zeros;
      EXPECT_LE(std::abs(gradient[j]), alpha + 1e-10);
    } else {
      EXPECT_NEAR(gradient[j] + alpha * (w > 0 ? 1 : -1), 0, 1e-10);
    }
  }
  EXPECT_GT(zeros, 0);
  EXPECT_LT(zeros, 12);
  EXPECT_LT(best.kkt, 1e-10);
}

TEST(Linear, SoftmaxWithL1IsOptimal) {
  const Data data = draw(600, 8, 4);
  const Settings settings{.family = LinearFamily::softmax, .l1 = 0.02, .l2 = 0.001};
  const LinearFit best = fit(data, settings);
  EXPECT_TRUE(best.converged);
  EXPECT_LT(best.kkt, 1e-9);
  EXPECT_GT((best.weights.array() == 0).count(), 0);
  // No single weight can be moved to a lower risk.
  const auto risk = [&](const LinearFit& at) {
    Sample sample{data.x, data.cls, 4, Vector()};
    return risk_of(sample, at.weights, at.offset, {.l2 = settings.l2}) + settings.l1 * at.weights.cwiseAbs().sum();
  };
  EXPECT_NEAR(risk(best), best.risk, 1e-12);
  for (Index j = 0; j < best.weights.size(); ++j) {
    for (const double step : {1e-4, -1e-4}) {
      LinearFit moved = best;
      moved.weights.data()[j] += step;
      EXPECT_GT(risk(moved), best.risk - 1e-13);
    }
  }
}

TEST(Linear, APenalisedOffsetIsAColumnOfOnes) {
  for (const double l1 : {0.0, 0.02}) {
    const Data data = draw(500, 3);
    Data ones = data;
    ones.x.conservativeResize(500, 4);
    ones.x.col(3).setOnes();
    const LinearFit offset = fit(data, {.l1 = l1, .penalise_offset = true});
    LinearProblem problem = problem_of(Features::dense(ones.x), ones, {.l1 = l1});
    problem.offset = false;
    const LinearFit column = fit_linear(problem, Context());
    EXPECT_NEAR(offset.offset[0], column.weights(0, 3), 1e-9);
    EXPECT_LT((offset.weights - column.weights.leftCols(3)).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(Linear, AStartNearTheEndIsShorter) {
  const Data data = draw(4000, 60);
  for (const double l1 : {0.0, 0.01}) {
    const LinearFit first = fit(data, {.l1 = l1, .l2 = 0.02, .tolerance = 1e-8});
    const LinearFit cold = fit(data, {.l1 = l1, .l2 = 0.019, .tolerance = 1e-8});
    LinearProblem problem = problem_of(Features::dense(data.x), data, {.l1 = l1, .l2 = 0.019, .tolerance = 1e-8});
    problem.start = &first;
    const LinearFit warm = fit_linear(problem, Context());
    EXPECT_LT(gap(warm, cold), 1e-5);
    EXPECT_LT(warm.iterations, cold.iterations) << l1;
  }
}

TEST(Linear, IllConditionedRowsAreSolvedThroughTheFactor) {
  // Columns mixed so that the Hessian's eigenvalues span twelve orders of magnitude.
  Data data = draw(3000, 120);
  Random random(9, "mix");
  Matrix mix(120, 120);
  for (Index i = 0; i < mix.size(); ++i) mix.data()[i] = random.normal();
  for (Index j = 0; j < 120; ++j) data.x.col(j) *= std::pow(10.0, -3 + 6.0 * static_cast<double>(j) / 119);
  data.x = data.x * mix;
  const Settings exact{.l2 = 1e-4, .solver = LinearSolver::irls};
  const LinearFit best = fit(data, exact);
  const LinearFit found = fit(data, {.l2 = 1e-4, .solver = LinearSolver::lbfgs, .tolerance = 1e-7});
  EXPECT_TRUE(found.converged);
  EXPECT_LT(found.iterations, 200);
  EXPECT_NEAR(found.risk, best.risk, 1e-8 * best.risk);
}

TEST(Linear, SeveralClassesOnSharedDirectionsAreSolvedThroughTheFactor) {
  // 80 columns that share eight directions: without a factor several hundred iterations.
  Data data = draw(1500, 80, 5);
  Random random(9, "mix");
  Matrix mix(8, 80);
  for (Index i = 0; i < mix.size(); ++i) mix.data()[i] = random.normal();
  data.x = Matrix(data.x.leftCols(8) * mix) + 0.05 * data.x;
  const LinearFit best = fit(data, {.l2 = 1e-3});
  const LinearFit found = fit(data, {.l2 = 1e-3, .solver = LinearSolver::lbfgs, .tolerance = 1e-6});
  EXPECT_TRUE(found.converged);
  EXPECT_LT(found.iterations, 100);
  EXPECT_NEAR(found.risk, best.risk, 1e-6 * best.risk);
}

TEST(Linear, EqualBytesForAnyNumberOfThreads) {
  const Data data = draw(11000, 20, 3);
  for (const Settings& settings :
       {Settings{.solver = LinearSolver::lbfgs}, Settings{.l1 = 0.01}, Settings{.solver = LinearSolver::sgd},
        Settings{.family = LinearFamily::poisson, .solver = LinearSolver::lbfgs}}) {
    const LinearFit one = fit(Features::dense(data.x), data, settings, 1);
    for (const int threads : {2, 7})
      EXPECT_TRUE(same_bytes(one, fit(Features::dense(data.x), data, settings, threads))) << threads;
  }
}

TEST(Linear, StochasticStepsComeNearTheOptimum) {
  const Data data = draw(5000, 6);
  for (const LinearFamily family : {LinearFamily::logistic, LinearFamily::probit, LinearFamily::least_squares}) {
    const LinearFit best = fit(data, {.family = family});
    const LinearFit near = fit(data, {.family = family, .solver = LinearSolver::sgd});
    EXPECT_GT(near.step, 0);
    EXPECT_NEAR(near.risk, best.risk, 5e-3 * std::abs(best.risk)) << static_cast<int>(family);
    EXPECT_GE(near.risk, best.risk);
    // The residual that is reported is that of the risk, not of a batch.
    EXPECT_GT(near.kkt, best.kkt);
  }
}

TEST(Linear, ProximalStepsFindTheZeros) {
  const Data data = draw(5000, 20);
  const Settings exact{.l1 = 0.05, .l2 = 0};
  const LinearFit best = fit(data, exact);
  LinearProblem problem =
      problem_of(Features::dense(data.x), data, {.l1 = 0.05, .l2 = 0, .solver = LinearSolver::prox_sgd});
  problem.sgd = {.schedule = StepSchedule::inverse, .batch = 50, .epochs = 60};
  const LinearFit near = fit_linear(problem, Context());
  EXPECT_NEAR(near.risk, best.risk, 2e-3 * best.risk);
  EXPECT_GT((near.weights.array() == 0).count(), 0);
}

TEST(Linear, RowsWithoutWeightDoNotSetTheStep) {
  Data data = draw(5000, 4);
  const double step = fit(data, {.solver = LinearSolver::sgd}).step;
  data.weight = Vector::Ones(5000);
  data.weight.head(2500).setZero();
  const LinearFit found = fit(data, {.solver = LinearSolver::sgd, .norm_by_weights = true});
  // Half of the rows have twice the part of the loss each: steps must be about half as long.
  EXPECT_NEAR(found.step / step, 0.5, 0.05);
}

TEST(Linear, ProximalStepsPenaliseTheOffsetToo) {
  const Data data = draw(2000, 3);
  LinearProblem problem = problem_of(Features::dense(data.x), data,
                                     {.l1 = 0.4, .l2 = 0, .solver = LinearSolver::prox_sgd, .penalise_offset = true});
  problem.sgd = {.batch = 20, .epochs = 30};
  const LinearFit found = fit_linear(problem, Context());
  EXPECT_EQ(found.offset[0], 0);
  EXPECT_LT(found.kkt, 1e-12);
}

TEST(Linear, RefusesByName) {
  Data data = draw(60, 3);
  EXPECT_EQ(code(data, {.l1 = -1}), "bad_option");
  EXPECT_EQ(code(data, {.l2 = -1}), "bad_option");
  for (const LinearSolver solver : {LinearSolver::lbfgs, LinearSolver::newton, LinearSolver::irls, LinearSolver::sgd})
    EXPECT_EQ(code(data, {.l1 = 0.1, .solver = solver}), "bad_option") << solver_name(solver);
  Data counts = data;
  counts.value[7] = -1;
  EXPECT_EQ(code(counts, {.family = LinearFamily::poisson}), "bad_label");
  EXPECT_EQ(code(counts, {.family = LinearFamily::least_squares}), "");
  std::fill(counts.value.begin(), counts.value.end(), 0.0);
  EXPECT_EQ(code(counts, {.family = LinearFamily::poisson}), "zero_counts");
  counts.value[3] = std::nan("");
  EXPECT_EQ(code(counts, {.family = LinearFamily::least_squares}), "non_finite");
  counts.value.pop_back();
  EXPECT_EQ(code(counts, {.family = LinearFamily::least_squares}), "shape_mismatch");
  Data huge = data;
  huge.x.array() *= 1e160;
  EXPECT_EQ(code(huge, {.solver = LinearSolver::sgd}), "diverged");
  for (const LinearSolver solver : {LinearSolver::automatic, LinearSolver::lbfgs, LinearSolver::prox_newton}) {
    Data hole = data;
    hole.x(17, 2) = std::nan("");
    EXPECT_EQ(code(hole, {.solver = solver}), "non_finite");
    hole.x.col(2).setConstant(std::nan(""));
    EXPECT_EQ(code(hole, {.solver = solver}), "non_finite");
  }
}

TEST(Linear, EverySolverSeesThatClassesAreSeparated) {
  Data data = draw(300, 2);
  for (Index i = 0; i < 300; ++i) data.cls[static_cast<std::size_t>(i)] = data.x(i, 0) > 0 ? 1 : 0;
  Data tied = data;
  tied.x.row(7).setZero();
  tied.x.row(8).setZero();
  tied.cls[7] = 0;
  tied.cls[8] = 1;
  for (const LinearSolver solver : {LinearSolver::automatic, LinearSolver::lbfgs, LinearSolver::newton,
                                    LinearSolver::irls, LinearSolver::prox_newton}) {
    for (const double tolerance : {0.0, 1e-10, 1e-3}) {
      const Settings settings{.l2 = 0, .solver = solver, .tolerance = tolerance};
      EXPECT_EQ(code(data, settings), "separable") << solver_name(solver) << " " << tolerance;
      EXPECT_EQ(code(tied, settings), "separable") << solver_name(solver) << " " << tolerance << ", with a tie";
    }
  }
}

TEST(Linear, ASampleWithoutWeightDoesNotMislead) {
  // Every second block of rows, and so every one that a sample would take, has no weight at all.
  Data data = draw(60000, 5);
  data.weight = Vector::Ones(60000);
  const Index block = Features::dense(data.x).block_rows();
  for (Index i = 0; i < 60000; ++i) data.weight[i] = (i / block) % 2 == 0 ? 0.0 : 1.0;
  Data kept;
  kept.x = data.x;
  for (Index i = 0, at = 0; i < 60000; ++i) {
    if (data.weight[i] == 0) continue;
    kept.x.row(at++) = data.x.row(i);
    kept.cls.push_back(data.cls[static_cast<std::size_t>(i)]);
    kept.value.push_back(data.value[static_cast<std::size_t>(i)]);
  }
  kept.x = Matrix(kept.x.topRows(static_cast<Index>(kept.cls.size())));
  for (const double l1 : {0.0, 0.01}) {
    const Settings settings{.l1 = l1, .tolerance = 1e-10, .norm_by_weights = true};
    const LinearFit found = fit(data, settings);
    EXPECT_TRUE(found.converged);
    EXPECT_LT(gap(fit(kept, settings), found), 1e-7) << l1;
  }
}

TEST(Linear, AHoleFarFromTheSampleIsFound) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const LinearSolver solver : {LinearSolver::lbfgs, LinearSolver::prox_newton}) {
      Data data = draw(20000, 3);
      data.x(600, 1) = bad;
      EXPECT_EQ(code(data, {.solver = solver}), "non_finite") << solver_name(solver);
    }
  }
  // One huge but finite value there is no error.
  Data data = draw(20000, 3);
  data.x(600, 1) = 1e20;
  for (const double l1 : {0.0, 0.01}) {
    const LinearFit found = fit(data, {.l1 = l1, .tolerance = 1e-8});
    EXPECT_TRUE(found.converged) << l1;
  }
}

TEST(Linear, ProbitIsSeparableToo) {
  Data data = draw(40, 2);
  for (Index i = 0; i < 40; ++i) data.cls[static_cast<std::size_t>(i)] = data.x(i, 0) > 0 ? 1 : 0;
  EXPECT_EQ(code(data, {.family = LinearFamily::probit, .l2 = 0}), "separable");
  EXPECT_EQ(code(data, {.family = LinearFamily::probit, .l2 = 1e-3}), "");
}

/// Fits on growing rows, each with what the last one kept, end at the optimum of a fit from nothing, in fewer
/// iterations; with fewer rows than columns and with more, with row weights, and when a column begins to vary late.
TEST(LinearModel, GrowingRowsEndAtTheSameOptimum) {
  const Index cols = 400;
  for (const Index first : {120, 600}) {
    for (const bool weighted : {false, true}) {
      if (weighted && first > cols) continue;  // as without weights, and it takes long
      Data data = draw(first + 100, cols);
      data.x.col(7).head(first + 20).setZero();
      if (weighted) {
        data.weight = Vector::LinSpaced(data.x.rows(), 0.5, 2.0);
        data.weight[3] = 0;
      }
      std::shared_ptr<const LinearCurvature> kept;
      std::optional<LinearFit> last;
      int warm = 0, cold = 0;
      for (Index rows = first; rows <= data.x.rows(); rows += 5) {
        Data part{data.x.topRows(rows), data.cls, data.value, data.weight.head(weighted ? rows : 0), 2};
        part.cls.resize(at(rows));
        part.value.resize(at(rows));
        const Features x = Features::dense(part.x);
        LinearProblem problem = problem_of(x, part, {.solver = LinearSolver::lbfgs, .tolerance = 1e-9});
        const LinearFit expected = fit_linear(problem, Context());
        problem.grows = true;
        if (last) problem.start = &*last;
        problem.curvature = kept.get();
        LinearFit fit = fit_linear(problem, Context());
        ASSERT_TRUE(fit.converged);
        EXPECT_LT((fit.weights - expected.weights).cwiseAbs().maxCoeff(), 1e-7) << rows;
        EXPECT_LT((fit.offset - expected.offset).cwiseAbs().maxCoeff(), 1e-7) << rows;
        if (last) {
          warm += fit.iterations;
          cold += expected.iterations;
        }
        kept = fit.curvature;
        last = std::move(fit);
      }
      EXPECT_LT(warm, 0.7 * cold) << first;
    }
  }
}

/// (2 diag(penalty) + Z'CZ) times what it solves is what was given.
TEST(LinearModel, KeptHessianIsAnInverse) {
  for (const Index rows : {30, 90}) {
    const Data data = draw(rows, 50);
    const Vector none;
    const Standardised design(Features::dense(data.x), none, DesignShape{}, Context());
    const Vector penalty = Vector::Constant(design.size(), 0.3);
    const Vector curvature = Vector::LinSpaced(rows, 0.1, 0.25);
    Scratch scratch;
    Matrix z;
    design.block(0, scratch, z);
    const auto kept = KeptHessian::of(design, curvature, penalty, Context());
    ASSERT_TRUE(kept);
    const Matrix v = Vector::LinSpaced(design.size(), -1, 2);
    const Matrix solved = kept->solve(v, Context());
    const Matrix back = 0.6 * solved + z.transpose() * (curvature.asDiagonal() * (z * solved));
    EXPECT_LT((back - v).cwiseAbs().maxCoeff(), 1e-4) << rows;
  }
}

}  // namespace linear_test
}  // namespace ecotone
