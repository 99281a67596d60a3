#include "ecotone/solve/svm/svm.h"

#include <gtest/gtest.h>
#include <libsvm/svm.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/data/read.h"
#include "shared_data.h"

namespace ecotone {
namespace svm_test {

struct Data {
  Matrix x;
  std::vector<double> y;
};

Data classes(Index rows, Index cols, std::uint64_t seed, double noise = 0.5) {
  Random random(seed, "svm_test");
  Data data{Matrix(rows, cols), {}};
  for (double& v : data.x.reshaped()) v = random.normal();
  for (Index i = 0; i < rows; ++i) {
    const double score = std::sin(2 * data.x(i, 0)) + data.x(i, 1) + noise * random.normal();
    data.y.push_back(score > 0 ? 1 : -1);
  }
  return data;
}

Data numbers(Index rows, Index cols, std::uint64_t seed) {
  Data data = classes(rows, cols, seed);
  Random random(seed, "svm_test_noise");
  for (Index i = 0; i < rows; ++i)
    data.y[static_cast<std::size_t>(i)] = std::sin(2 * data.x(i, 0)) + 0.5 * data.x(i, 1) + 0.2 * random.normal();
  return data;
}

Context with_threads(int threads) { return Context(Context::Settings{.threads = threads}); }

/// 1/2 b'Kb - y'b + epsilon ||b||_1 from the definition.
double objective(const Matrix& k, const std::vector<double>& y, const Vector& beta, double epsilon) {
  const Eigen::Map<const Vector> target(y.data(), beta.size());
  return beta.dot(k * beta) / 2 - target.dot(beta) + epsilon * beta.lpNorm<1>();
}

/// What LIBSVM makes of the same problem.
struct Rival {
  Vector beta;
  double offset = 0;
};

Rival libsvm(const Data& data, const SvmProblem& problem, const Kernel& kernel) {
  std::vector<std::vector<svm_node>> nodes;
  std::vector<svm_node*> rows;
  for (Index i = 0; i < data.x.rows(); ++i) {
    auto& row = nodes.emplace_back();
    for (Index j = 0; j < data.x.cols(); ++j) row.push_back({static_cast<int>(j + 1), data.x(i, j)});
    row.push_back({-1, 0});
  }
  for (auto& row : nodes) rows.push_back(row.data());
  std::vector<double> y = data.y;
  const svm_problem given{static_cast<int>(y.size()), y.data(), rows.data()};
  svm_parameter parameter{};
  parameter.svm_type = problem.kind == SvmKind::classes ? C_SVC : EPSILON_SVR;
  parameter.kernel_type = kernel.kind == KernelKind::rbf ? RBF : kernel.kind == KernelKind::poly ? POLY : LINEAR;
  parameter.gamma = kernel.kind == KernelKind::rbf ? 0.5 / kernel.sigma / kernel.sigma : kernel.scale;
  parameter.degree = kernel.degree;
  parameter.coef0 = kernel.coef0;
  parameter.C = problem.cost;
  parameter.p = problem.epsilon;
  parameter.eps = problem.tolerance;
  parameter.cache_size = 100;
  parameter.shrinking = 1;
  svm_set_print_string_function([](const char*) {});
  svm_model* model = svm_train(&given, &parameter);
  // LIBSVM's decision values are those of the label that it saw first.
  const double sign = problem.kind == SvmKind::classes && model->label[0] < 0 ? -1 : 1;
  Rival rival{Vector::Zero(data.x.rows()), -sign * model->rho[0]};
  for (int s = 0; s < model->l; ++s) rival.beta[model->sv_indices[s] - 1] = sign * model->sv_coef[0][s];
  svm_free_and_destroy_model(&model);
  return rival;
}

/// The optimality conditions, from scores and nothing else.
void expect_optimal(const SvmProblem& problem, const SvmFit& fit, const Vector& scores, double slack) {
  for (std::size_t i = 0; i < problem.y.size(); ++i) {
    const double b = fit.beta[static_cast<Index>(i)];
    const double cost = problem.cost * (problem.weight.empty() ? 1 : problem.weight[i]);
    const double score = scores[static_cast<Index>(i)];
    ASSERT_LE(std::abs(b), cost);
    if (problem.kind == SvmKind::classes) {
      const double margin = problem.y[i] * score;
      ASSERT_GE(b * problem.y[i], 0);
      if (std::abs(b) < cost) {
        EXPECT_GE(margin, 1 - slack);
      }
      if (b != 0) {
        EXPECT_LE(margin, 1 + slack);
      }
    } else {
      const double error = problem.y[i] - score;
      if (std::abs(b) < cost) {
        EXPECT_LE(std::abs(error), problem.epsilon + slack);
      }
      if (b != 0) {
        EXPECT_GE(error * (b > 0 ? 1 : -1), problem.epsilon - slack);
      }
    }
  }
  EXPECT_NEAR(fit.beta.sum(), 0, 1e-9 * (1 + fit.beta.lpNorm<1>()));
}

void expect_as_libsvm(const Data& data, SvmProblem problem, const Kernel& kernel) {
  problem.y = data.y;
  const Context context = with_threads(2);
  const SvmFit fit = fit_svm(problem, kernel, data.x, context);
  const Rival rival = libsvm(data, problem, kernel);
  const double epsilon = problem.kind == SvmKind::numbers ? problem.epsilon : 0;
  const Matrix k = kernel_gram(kernel, data.x, context);
  const double expected = objective(k, data.y, rival.beta, epsilon);
  EXPECT_TRUE(fit.converged);
  EXPECT_NEAR(fit.objective, expected, 1e-6 * std::abs(expected));
  // Long kernel rows are rounded to single precision, 6e-8 of each value.
  const double rounding = data.x.rows() < svm_single_rows ? 1e-9 : 6e-8;
  EXPECT_NEAR(fit.objective, objective(k, data.y, fit.beta, epsilon), rounding * std::abs(expected));
  EXPECT_GE(fit.gap, -1e-9 * std::abs(expected));
  EXPECT_LE(fit.kkt, problem.tolerance);
  const Vector scores = svm_scores(kernel, data.x, fit.beta, fit.offset, data.x, context);
  expect_optimal(problem, fit, scores, 2 * problem.tolerance);
  const Vector theirs = (k * rival.beta).array() + rival.offset;
  for (Index i = 0; i < scores.size(); ++i) {
    if (problem.kind == SvmKind::classes && std::abs(theirs[i]) > 1e-3) {
      EXPECT_EQ(scores[i] > 0, theirs[i] > 0);
    }
    EXPECT_NEAR(scores[i], theirs[i], 1e-2);
  }
}

TEST(Svm, HasTheObjectiveOfLibsvm) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    const Index rows = 40 + 37 * static_cast<Index>(seed);
    const Kernel kernels[] = {{.kind = KernelKind::rbf, .sigma = 1.0 + 0.1 * static_cast<double>(seed)},
                              {.kind = KernelKind::linear},
                              {.kind = KernelKind::poly, .degree = 2, .coef0 = 1, .scale = 0.3}};
    const Kernel& kernel = kernels[seed % 4 == 3 ? 0 : seed % 4];
    const double cost = std::pow(10.0, static_cast<double>(seed % 4) - 2);
    SvmProblem problem{.cost = cost, .tolerance = 1e-5};
    if (seed % 2 == 0) {
      expect_as_libsvm(classes(rows, 4, seed), problem, kernel);
    } else {
      problem.kind = SvmKind::numbers;
      expect_as_libsvm(numbers(rows, 4, seed), problem, kernel);
    }
  }
}

TEST(Svm, SolvesInSinglePrecisionAndShrunkAsLibsvmDoes) {
  const Data data = classes(4200, 5, 77, 0.1);
  ASSERT_GE(data.x.rows(), svm_single_rows);
  expect_as_libsvm(data, {.cost = 1, .tolerance = 1e-4}, {.kind = KernelKind::rbf, .sigma = 1.5});
}

TEST(Svm, HasTheObjectiveOfLibsvmOnGvhd) {
  const std::filesystem::path path = shared_data() / "gvhd/gvhd_flowcap12_1k.csv.gz";
  ECOTONE_SKIP_WITHOUT(path);
  const Context context = with_threads(2);
  const Dataset read = read_dataset(
      {path}, {.label = "label", .domain = "domain", .ignore = {"manual", "triple"}, .task = Task::classify}, context);
  Data data{read.x.to_matrix(), {}};
  for (const std::int32_t k : read.y->index) data.y.push_back(k == 1 ? 1 : -1);
  // Every column at mean 0 and mean square 1.
  data.x.rowwise() -= data.x.colwise().mean().eval();
  for (auto column : data.x.colwise()) column /= std::sqrt(column.squaredNorm() / static_cast<double>(column.size()));
  expect_as_libsvm(data, {.cost = 1, .tolerance = 1e-5}, {.kind = KernelKind::rbf, .sigma = 2});
}

TEST(Svm, ComputesFewKernelRowsOfClassesThatLieApart) {
  Data data = classes(2000, 20, 3);
  for (Index i = 0; i < 2000; ++i) data.x.row(i).array() += 0.7 * data.y[static_cast<std::size_t>(i)];
  const SvmFit fit = fit_svm({.y = data.y}, {.kind = KernelKind::rbf, .sigma = 6}, data.x, with_threads(1));
  EXPECT_TRUE(fit.converged);
  EXPECT_LT(fit.support, 100);
  EXPECT_LT(fit.kernel_rows, 256);
}

TEST(Svm, TakesAWeightOfTwoForARowGivenTwice) {
  for (const SvmKind kind : {SvmKind::classes, SvmKind::numbers}) {
    const Data data = kind == SvmKind::classes ? classes(300, 3, 5) : numbers(300, 3, 5);
    std::vector<double> weight(300, 1.0), y2 = data.y;
    Matrix x2(400, 3);
    x2.topRows(300) = data.x;
    for (Index i = 0; i < 100; ++i) {
      weight[static_cast<std::size_t>(3 * i)] = 2;
      x2.row(300 + i) = data.x.row(3 * i);
      y2.push_back(data.y[static_cast<std::size_t>(3 * i)]);
    }
    const Kernel kernel{.kind = KernelKind::rbf, .sigma = 1};
    const Context context = with_threads(1);
    const SvmFit once =
        fit_svm({.kind = kind, .y = data.y, .weight = weight, .tolerance = 1e-7}, kernel, data.x, context);
    const SvmFit twice = fit_svm({.kind = kind, .y = y2, .tolerance = 1e-7}, kernel, x2, context);
    EXPECT_NEAR(once.objective, twice.objective, 1e-8 * std::abs(once.objective));
    const Vector a = svm_scores(kernel, data.x, once.beta, once.offset, data.x, context);
    const Vector b = svm_scores(kernel, x2, twice.beta, twice.offset, data.x, context);
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-5);
  }
}

TEST(Svm, LeavesOutRowsOfNoWeight) {
  const Data data = classes(200, 3, 6);
  std::vector<double> weight(200, 1.0), y(data.y.begin(), data.y.begin() + 150);
  std::fill(weight.begin() + 150, weight.end(), 0.0);
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 1};
  const SvmFit all = fit_svm({.y = data.y, .weight = weight}, kernel, data.x, with_threads(1));
  const SvmFit some = fit_svm({.y = y}, kernel, data.x.topRows(150), with_threads(1));
  EXPECT_TRUE(all.beta.head(150) == some.beta);
  EXPECT_TRUE(all.beta.tail(50).isZero(0));
  EXPECT_EQ(all.offset, some.offset);
}

TEST(Svm, ClosesTheDualityGap) {
  for (const SvmKind kind : {SvmKind::classes, SvmKind::numbers}) {
    const Data data = kind == SvmKind::classes ? classes(900, 3, 8) : numbers(900, 3, 8);
    double before = std::numeric_limits<double>::infinity();
    for (const double tolerance : {1e-1, 1e-3, 1e-6}) {
      const SvmFit fit =
          fit_svm({.kind = kind, .y = data.y, .tolerance = tolerance}, {.sigma = 1}, data.x, with_threads(2));
      EXPECT_LE(fit.kkt, tolerance);
      EXPECT_GE(fit.gap, -1e-9);
      // Every row's loss is off by at most the violation: gap <= C n tolerance.
      EXPECT_LE(fit.gap, 900 * tolerance);
      EXPECT_LT(fit.gap, before);
      before = fit.gap;
    }
  }
}

TEST(Svm, ShrinksAndComesBack) {
  // Few rows decide and many do not; the cache holds only what a working set needs.
  Data data = classes(3000, 2, 9, 0.05);
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 0.5};
  const SvmProblem problem{.y = data.y, .cost = 10, .tolerance = 1e-4, .cache_bytes = 1};
  const SvmFit fit = fit_svm(problem, kernel, data.x, with_threads(2));
  EXPECT_TRUE(fit.converged);
  const Vector scores = svm_scores(kernel, data.x, fit.beta, fit.offset, data.x, with_threads(2));
  expect_optimal(problem, fit, scores, 2e-4);
  SvmProblem roomy = problem;
  roomy.cache_bytes = std::size_t{1} << 30;
  const SvmFit other = fit_svm(roomy, kernel, data.x, with_threads(2));
  EXPECT_NEAR(fit.objective, other.objective, 1e-7 * std::abs(fit.objective));
  EXPECT_LT(other.kernel_rows, fit.kernel_rows);
  for (const SvmFit& shrunk : {fit, other}) {
    EXPECT_LT(shrunk.fewest_rows, 1500);
    EXPECT_GE(shrunk.fewest_rows, shrunk.support - shrunk.bounded);
  }
}

TEST(Svm, TakesAGramMatrixForItsKernel) {
  for (const KernelKind kind : {KernelKind::rbf, KernelKind::laplacian, KernelKind::linear, KernelKind::poly}) {
    const Data data = classes(700, 3, 11);
    const Kernel kernel{.kind = kind, .sigma = 2, .degree = 2, .coef0 = 1, .scale = 0.5};
    const Context context = with_threads(2);
    const SvmProblem problem{.y = data.y, .tolerance = 1e-6};
    const SvmFit computed = fit_svm(problem, kernel, data.x, context);
    const Matrix gram = kernel_gram(kernel, data.x, context);
    const SvmFit given = fit_svm(problem, gram, context);
    EXPECT_NEAR(computed.objective, given.objective, 1e-8 * std::abs(given.objective));
    const Vector a = svm_scores(kernel, data.x, computed.beta, computed.offset, data.x, context);
    const Vector b = (gram * given.beta).array() + given.offset;
    EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-4);
  }
}

TEST(Svm, StartsFromASolution) {
  for (const SvmKind kind : {SvmKind::classes, SvmKind::numbers}) {
    const Data data = kind == SvmKind::classes ? classes(1500, 3, 13) : numbers(1500, 3, 13);
    const Kernel kernel{.kind = KernelKind::rbf, .sigma = 1};
    SvmProblem problem{.kind = kind, .y = data.y, .cost = 1, .tolerance = 1e-5};
    const SvmFit before = fit_svm(problem, kernel, data.x, with_threads(2));
    problem.cost = 0.9;  // some of the start is beyond the bounds
    const SvmFit cold = fit_svm(problem, kernel, data.x, with_threads(2));
    problem.start = {before.beta.data(), 1500};
    const SvmFit warm = fit_svm(problem, kernel, data.x, with_threads(2));
    EXPECT_NEAR(warm.objective, cold.objective, 1e-6 * std::abs(cold.objective));
    EXPECT_LT(warm.iterations, cold.iterations);
    problem.start = {cold.beta.data(), 1500};
    EXPECT_LT(fit_svm(problem, kernel, data.x, with_threads(2)).iterations, warm.iterations);
  }
}

TEST(Svm, HasEqualBytesForAnyNumberOfThreads) {
  const Data data = classes(4500, 3, 15);
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = 1};
  const SvmProblem problem{.y = data.y};
  const SvmFit one = fit_svm(problem, kernel, data.x, with_threads(1));
  EXPECT_TRUE(one.converged);
  for (const int threads : {2, 7}) {
    const SvmFit more = fit_svm(problem, kernel, data.x, with_threads(threads));
    EXPECT_TRUE(one.beta == more.beta);
    EXPECT_EQ(one.offset, more.offset);
    EXPECT_EQ(one.gap, more.gap);
  }
}

TEST(Svm, AFarRowCostsTheOthersNoDigits) {
  const Data data = classes(600, 2, 21, 0);
  const Kernel kernel{.sigma = 0.5};
  Data with = data;
  // One row far away, and two that are far away but near each other: a kernel of differences tells them apart.
  with.x.conservativeResize(603, 2);
  with.x.bottomRows(3) << 1e12, 0, 1e8, 1e8, 1e8, 1e8 + 1;
  with.y.insert(with.y.end(), {1, 1, -1});
  const SvmFit fit = fit_svm({.y = data.y}, kernel, data.x, with_threads(1));
  const SvmProblem problem{.y = with.y};
  const SvmFit far = fit_svm(problem, kernel, with.x, with_threads(1));
  EXPECT_TRUE(far.converged);
  const Vector a = svm_scores(kernel, data.x, fit.beta, fit.offset, data.x, with_threads(1));
  const Vector b = svm_scores(kernel, with.x, far.beta, far.offset, with.x, with_threads(1));
  EXPECT_LT((a - b.head(600)).cwiseAbs().maxCoeff(), 0.05);
  // The solver's kernel is the one that scores are computed with.
  expect_optimal(problem, far, b, 2e-3);
  EXPECT_GT(b[601], b[602] + 0.5);
}

TEST(Svm, AnOffsetOfTheColumnsCostsALinearKernelNothing) {
  const Data data = classes(300, 3, 23);
  const Kernel kernel{.kind = KernelKind::linear};
  const SvmProblem problem{.y = data.y, .tolerance = 1e-5};
  const Matrix moved = data.x.array() + 1e7;
  const SvmFit near = fit_svm(problem, kernel, data.x, with_threads(1));
  const SvmFit far = fit_svm(problem, kernel, moved, with_threads(1));
  EXPECT_TRUE(far.converged);
  const Vector a = svm_scores(kernel, data.x, near.beta, near.offset, data.x, with_threads(1));
  const Vector b = svm_scores(kernel, moved, far.beta, far.offset, moved, with_threads(1));
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(Svm, ScoresOfARowDoNotDependOnTheOthers) {
  const Data data = classes(400, 3, 25);
  const SvmFit fit = fit_svm({.y = data.y}, {.sigma = 1}, data.x, with_threads(1));
  const auto scores = [&](const Matrix& z) {
    return svm_scores({.sigma = 1}, data.x, fit.beta, fit.offset, z, with_threads(1));
  };
  Matrix z = data.x.topRows(20);
  const Vector before = scores(z);
  z.bottomRows(19).array() += 1e9;
  EXPECT_EQ(scores(z)[0], before[0]);
}

TEST(Svm, SolvesWhatIsDegenerate) {
  const Context context = with_threads(1);
  // Duplicate rows with opposite labels: nothing can be learned, all coefficients are at their cost.
  const Matrix same = Matrix::Ones(6, 2);
  const std::vector<double> y = {1, -1, 1, -1, 1, -1};
  for (const KernelKind kind : {KernelKind::rbf, KernelKind::linear}) {
    const SvmFit fit = fit_svm({.y = y, .cost = 2}, {.kind = kind}, same, context);
    EXPECT_TRUE(fit.converged);
    EXPECT_NEAR(fit.objective, -12, 1e-9);
    EXPECT_NEAR(fit.gap, 0, 1e-9);
  }
  // A constant kernel, given.
  const SvmFit constant = fit_svm({.y = y}, Matrix::Constant(6, 6, 3.0), context);
  EXPECT_TRUE(constant.converged);
  EXPECT_NEAR(constant.objective, -6, 1e-9);
  // A cost so small that every coefficient is at it, and one so large that none is.
  const Data data = classes(200, 2, 17, 0);
  const SvmFit small = fit_svm({.y = data.y, .cost = 1e-8}, {.sigma = 1}, data.x, context);
  EXPECT_TRUE(small.converged);
  EXPECT_GE(small.bounded, small.support - 1);
  const SvmProblem hard{.y = data.y, .cost = 1e12};
  const SvmFit large = fit_svm(hard, {.sigma = 0.3}, data.x, context);
  EXPECT_TRUE(large.converged);
  EXPECT_EQ(large.bounded, 0);
  expect_optimal(hard, large, svm_scores({.sigma = 0.3}, data.x, large.beta, large.offset, data.x, context), 2e-3);
  // One number: it is the answer.
  const std::vector<double> number = {4};
  const SvmFit single = fit_svm({.kind = SvmKind::numbers, .y = number}, {.sigma = 1}, Matrix::Ones(1, 1), context);
  EXPECT_NEAR(single.offset, 4, 0.1 + 1e-12);
}

TEST(Svm, SaysThatItDidNotConverge) {
  const Data data = classes(300, 3, 19);
  const SvmFit fit = fit_svm({.y = data.y, .max_iterations = 5}, {.sigma = 1}, data.x, with_threads(1));
  EXPECT_FALSE(fit.converged);
  EXPECT_EQ(fit.iterations, 5);
  EXPECT_GT(fit.kkt, 1e-3);
}

TEST(Svm, RefusesByName) {
  const Matrix x = Matrix::Random(4, 2);
  const auto code = [&](const SvmProblem& problem, const Matrix& rows) -> std::string {
    try {
      fit_svm(problem, {.sigma = 1}, rows, with_threads(1));
    } catch (const Error& error) {
      return error.code();
    }
    return "none";
  };
  const std::vector<double> y = {1, -1, 1, -1}, ones(4, 1.0), zeros(4, 0.0), half = {1, 0, 1, 0}, bad = {1, -1, 2, 1},
                            negative = {1, 1, -1, 1};
  Matrix hole = x;
  hole(2, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(code({.y = y}, x), "none");
  EXPECT_EQ(code({.y = y}, x.topRows(3)), "shape_mismatch");
  EXPECT_EQ(code({.y = {}}, x.topRows(0)), "empty_data");
  EXPECT_EQ(code({.y = y}, hole), "non_finite");
  EXPECT_EQ(code({.y = bad}, x), "bad_label");
  EXPECT_EQ(code({.y = y, .weight = negative}, x), "negative_weight");
  EXPECT_EQ(code({.y = y, .weight = zeros}, x), "zero_weights");
  EXPECT_EQ(code({.y = ones}, x), "one_class");
  EXPECT_EQ(code({.y = y, .weight = half}, x), "one_class");
  EXPECT_EQ(code({.y = y, .cost = 0}, x), "bad_option");
  EXPECT_EQ(code({.y = y, .tolerance = 0}, x), "bad_option");
  EXPECT_EQ(code({.kind = SvmKind::numbers, .y = y, .epsilon = -1}, x), "bad_option");
}

}  // namespace svm_test
}  // namespace ecotone
