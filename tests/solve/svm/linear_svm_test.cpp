#include "ecotone/solve/svm/linear_svm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/rank_threads.h"
#include "ecotone/base/error.h"
#include "error_code.h"
#include "linalg/support.h"

namespace ecotone {
namespace linear_svm_test {

struct Data {
  Matrix x;
  std::vector<double> y;
};

Data classes(Index rows, Index cols, std::uint64_t seed, double noise = 1) {
  Data data{random_matrix(rows, cols, seed), {}};
  Random random(seed, "linear_svm_test");
  for (Index i = 0; i < rows; ++i) {
    const double score = data.x(i, 0) - 2 * data.x(i, cols - 1) + 0.7 + noise * random.normal();
    data.y.push_back(score > 0 ? 1 : -1);
  }
  return data;
}

Data numbers(Index rows, Index cols, std::uint64_t seed) {
  Data data = classes(rows, cols, seed);
  Random random(seed, "linear_svm_noise");
  for (Index i = 0; i < rows; ++i)
    data.y[static_cast<std::size_t>(i)] = 50 + data.x(i, 0) - 2 * data.x(i, cols - 1) + 0.5 * random.normal();
  return data;
}

Features sparse(const Matrix& x) {
  Csr csr{x.rows(), x.cols(), {0}, {}, {}};
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      if (x(i, j) == 0) continue;
      csr.column.push_back(static_cast<std::int32_t>(j));
      csr.value.push_back(x(i, j));
    }
    csr.row_start.push_back(std::ssize(csr.value));
  }
  return Features::sparse(std::move(csr));
}

/// 1/2 ||w||^2 + C sum_i w_i loss_i from the definition.
double primal(const SvmProblem& p, const Matrix& x, const Vector& weights, double offset) {
  double sum = weights.squaredNorm() / 2;
  for (Index i = 0; i < x.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const double f = x.row(i).dot(weights) + offset;
    const double loss = p.kind == SvmKind::classes ? 1 - p.y[k] * f : std::abs(p.y[k] - f) - p.epsilon;
    sum += p.cost * (p.weight.empty() ? 1 : p.weight[k]) * std::max(0.0, loss);
  }
  return sum;
}

/// The same optimum as the machine of pairs, to what the tolerances allow.
void expect_as_fit_svm(const Data& data, SvmProblem problem, const Context& context) {
  problem.y = data.y;
  problem.tolerance = 1e-6;
  const LinearSvmFit ours = fit_linear_svm(problem, Features::dense(data.x), context);
  SvmProblem exact = problem;
  exact.tolerance = 1e-7;
  const SvmFit theirs = fit_svm(exact, {.kind = KernelKind::linear}, data.x, context);
  EXPECT_TRUE(ours.converged);
  const double value = primal(problem, data.x, ours.weights, ours.offset);
  EXPECT_LE(ours.gap, 1e-6 * value);
  EXPECT_GE(ours.gap, 0);
  EXPECT_NEAR(ours.objective, theirs.objective, 1e-5 * std::abs(theirs.objective));
  // The certificate holds: it is the primal of the definition, and the other machine is within the gap.
  EXPECT_NEAR(value + ours.objective, ours.gap, 1e-9 * value);
  EXPECT_LE(-ours.objective, -theirs.objective + theirs.gap + 1e-9 * value);
  const Vector f = linear_svm_scores(Features::dense(data.x), ours.weights, ours.offset, context);
  const Vector g = svm_scores({.kind = KernelKind::linear}, data.x, theirs.beta, theirs.offset, data.x, context);
  EXPECT_LT((f - g).cwiseAbs().maxCoeff(), 0.02 * g.cwiseAbs().maxCoeff());
}

TEST(LinearSvm, IsTheMachineOfTheLinearKernel) {
  const Context context = with_threads(2);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Index cols = 2 + static_cast<Index>(seed);
    const double cost = std::vector<double>{0.01, 0.3, 1, 5}[seed % 4];
    expect_as_fit_svm(classes(150, cols, seed), {.cost = cost}, context);
    expect_as_fit_svm(numbers(150, cols, seed), {.kind = SvmKind::numbers, .cost = cost, .epsilon = 0.1}, context);
  }
}

TEST(LinearSvm, OfWeightsIsThatOfRowsRepeated) {
  const Context context = with_threads(1);
  const Data data = classes(80, 3, 3);
  std::vector<double> weight;
  std::vector<Index> repeated;
  std::vector<double> y;
  for (Index i = 0; i < 80; ++i) {
    weight.push_back(static_cast<double>(i % 3));
    for (Index k = 0; k < i % 3; ++k) {
      repeated.push_back(i);
      y.push_back(data.y[static_cast<std::size_t>(i)]);
    }
  }
  const Features x = Features::dense(data.x);
  const LinearSvmFit once = fit_linear_svm({.y = data.y, .weight = weight, .tolerance = 1e-8}, x, context);
  const LinearSvmFit twice = fit_linear_svm({.y = y, .tolerance = 1e-8}, x.take(repeated), context);
  EXPECT_NEAR(once.objective, twice.objective, 2e-8 * std::abs(once.objective));
  EXPECT_LT((once.weights - twice.weights).norm(), 1e-3 * once.weights.norm());
}

TEST(LinearSvm, OfSparseRowsAndOfRowsOnDemandIsThatOfDenseOnes) {
  const Context context = with_threads(2);
  Data data = classes(1200, 6, 4);
  for (double& v : data.x.reshaped())
    if (std::abs(v) < 0.7) v = 0;
  const SvmProblem problem{.y = data.y};
  const LinearSvmFit dense = fit_linear_svm(problem, Features::dense(data.x), context);
  const LinearSvmFit csr = fit_linear_svm(problem, sparse(data.x), context);
  EXPECT_NEAR(csr.objective, dense.objective, 2e-3 * std::abs(dense.objective));
  EXPECT_LT((csr.weights - dense.weights).norm(), 1e-6 * dense.weights.norm());

  /// Rows that are computed when they are read.
  class OnDemand : public FeatureStorage {
   public:
    explicit OnDemand(Matrix x) : x_(std::move(x)) {}
    Index rows() const override { return x_.rows(); }
    Index cols() const override { return x_.cols(); }
    RowBlock block(Index b, Scratch& scratch) const override {
      const Index first = b * block_rows();
      auto out = scratch.reserve(std::min(block_rows(), rows() - first), cols());
      out = x_.middleRows(first, out.rows());
      return {first, ConstMatrixMap(out.data(), out.rows(), cols(), Eigen::OuterStride<>(out.outerStride()))};
    }

   private:
    Matrix x_;
  };
  const LinearSvmFit computed = fit_linear_svm(problem, {std::make_shared<OnDemand>(data.x), {}}, context);
  EXPECT_TRUE(computed.kept);
  EXPECT_TRUE(same_bytes(computed.weights, dense.weights));
}

TEST(LinearSvm, SameBytesForAnyNumberOfThreadsWithAStartFromSomeRows) {
  const Data data = classes(90'000, 3, 5);
  const SvmProblem problem{.y = data.y};
  LinearSvmFit first;
  for (const int threads : {1, 2, 7}) {
    const LinearSvmFit fit = fit_linear_svm(problem, Features::dense(data.x), with_threads(threads));
    EXPECT_TRUE(fit.converged);
    // Most of the work is done on the few rows.
    EXPECT_LE(fit.iterations, 6);
    if (threads == 1) first = fit;
    EXPECT_TRUE(same_bytes(fit.weights, first.weights));
    EXPECT_EQ(fit.offset, first.offset);
    EXPECT_EQ(fit.gap, first.gap);
  }
}

TEST(LinearSvm, OfTinyAndHugeCostsOfSeparableRowsAndOfEqualRowsWithOppositeLabels) {
  const Context context = with_threads(1);
  const Data noisy = classes(100, 3, 6);
  const Data clean = classes(100, 3, 7, 0);
  Data opposite = noisy;
  for (Index i = 0; i + 1 < 100; i += 2) {
    opposite.x.row(i + 1) = opposite.x.row(i);
    opposite.y[static_cast<std::size_t>(i)] = 1;
    opposite.y[static_cast<std::size_t>(i + 1)] = -1;
  }
  for (const double cost : {1e-6, 1.0, 1e4}) {
    for (const Data* data : std::vector<const Data*>{&noisy, &clean, &opposite}) {
      const SvmProblem problem{.y = data->y, .cost = cost};
      const LinearSvmFit fit = fit_linear_svm(problem, Features::dense(data->x), context);
      const double value = primal(problem, data->x, fit.weights, fit.offset);
      EXPECT_TRUE(fit.converged) << cost;
      EXPECT_NEAR(value + fit.objective, fit.gap, 1e-9 * value);
      EXPECT_LE(fit.gap, 1e-3 * value);
    }
  }
  // Equal rows with opposite labels cost 2 whatever the machine says.
  EXPECT_NEAR(fit_linear_svm({.y = opposite.y, .tolerance = 1e-9}, Features::dense(opposite.x), context).objective,
              -100, 1e-6);
}

TEST(LinearSvm, ALargeOffsetOfTheColumnsCostsNothing) {
  const Context context = with_threads(1);
  const Data data = classes(400, 4, 8);
  const SvmProblem problem{.y = data.y, .tolerance = 1e-6};
  const LinearSvmFit near = fit_linear_svm(problem, Features::dense(data.x), context);
  const LinearSvmFit far = fit_linear_svm(problem, Features::dense(data.x.array() + 1e6), context);
  EXPECT_TRUE(far.converged);
  EXPECT_NEAR(far.objective, near.objective, 1e-5 * std::abs(near.objective));
  EXPECT_LT((far.weights - near.weights).norm(), 1e-2 * near.weights.norm());
}

TEST(LinearSvm, OfNumbersThatAreConstantOrWithinEpsilonIsThatNumber) {
  const Context context = with_threads(1);
  const Data data = classes(50, 2, 9);
  const std::vector<double> constant(50, 3.5);
  for (const double epsilon : {0.0, 0.1}) {
    const LinearSvmFit fit =
        fit_linear_svm({.kind = SvmKind::numbers, .y = constant, .epsilon = epsilon}, Features::dense(data.x), context);
    EXPECT_TRUE(fit.converged);
    EXPECT_LT(fit.weights.norm(), 1e-6);
    EXPECT_NEAR(fit.offset, 3.5, 0.1 + 1e-6);
    EXPECT_EQ(fit.support, 0);
  }
  // Most of them at one end: the mean is not without loss, the middle is.
  std::vector<double> apart(50, 1.0);
  apart[7] = 1.2;
  const LinearSvmFit fit =
      fit_linear_svm({.kind = SvmKind::numbers, .y = apart, .epsilon = 0.101}, Features::dense(data.x), context);
  EXPECT_EQ(fit.weights.norm(), 0);
  EXPECT_NEAR(fit.offset, 1.1, 1e-12);
  EXPECT_EQ(fit.support, 0);
  EXPECT_EQ(fit.gap, 0);
}

TEST(LinearSvm, SaysWhenItHasNotConverged) {
  const Data data = classes(300, 5, 10);
  const LinearSvmFit fit =
      fit_linear_svm({.y = data.y, .tolerance = 1e-9, .max_iterations = 2}, Features::dense(data.x), with_threads(1));
  EXPECT_FALSE(fit.converged);
  EXPECT_EQ(fit.iterations, 2);
  EXPECT_GT(fit.gap, 0);
}

TEST(LinearSvm, RefusesWhatItCannotFit) {
  const Context context = with_threads(1);
  Data data = classes(10, 2, 11);
  const auto fit = [&](const SvmProblem& problem) {
    return test::code_of([&] { fit_linear_svm(problem, Features::dense(data.x), context); });
  };
  const std::vector<double> zero(10, 0), one(10, 1), few(9, 1);
  std::vector<double> negative(10, 1);
  negative[3] = -1;
  EXPECT_EQ(fit({.y = few}), "shape_mismatch");
  EXPECT_EQ(fit({.y = one}), "one_class");
  EXPECT_EQ(fit({.y = zero}), "bad_label");
  EXPECT_EQ(fit({.y = data.y, .weight = zero}), "zero_weights");
  EXPECT_EQ(fit({.y = data.y, .weight = negative}), "negative_weight");
  EXPECT_EQ(fit({.y = data.y, .cost = 0}), "bad_option");
  EXPECT_EQ(fit({.y = data.y, .tolerance = 0}), "bad_option");
  data.x(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(fit({.y = data.y}), "non_finite");
}

TEST(LinearSvm, RanksSendSumsAndNoNumberPerRow) {
  const Data data = classes(3000, 4, 7);
  const SvmProblem problem{.y = data.y, .cost = 0.1};
  const LinearSvmFit alone = fit_linear_svm(problem, Features::dense(data.x), Context({.threads = 1}));
  RankThreads(3).run([&](Communicator& ranks) {
    const Context context({.threads = 1, .ranks = &ranks});
    const LinearSvmFit fit = fit_linear_svm(problem, Features::dense(data.x), context);
    EXPECT_EQ(fit.weights, alone.weights);
    EXPECT_EQ(fit.offset, alone.offset);
    EXPECT_EQ(context.ranks().traffic().shares, 0U);
  });
}

}  // namespace linear_svm_test
}  // namespace ecotone
