// Many rows, many columns, sparse columns: other routes to the same optimum.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/rank_threads.h"
#include "data/sparse_support.h"
#include "solve/linear/logistic_support.h"

namespace ecotone {
namespace logistic_routes_test {

using test::to_csr;

/// Sparse rows of many columns with 100 values each; the classes differ a little in all of them.
Csr wide_rows(Index rows, Index cols, Sample& labels) {
  Random random(9, "test.wide");
  Csr csr{rows, cols, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    labels.cls.push_back(static_cast<std::int32_t>(i % 2));
    std::vector<Index> columns = random.sample(cols, 100);
    std::sort(columns.begin(), columns.end());
    for (const Index j : columns) {
      csr.column.push_back(static_cast<std::int32_t>(j));
      csr.value.push_back(random.normal() + 0.2 * static_cast<double>(i % 2));
    }
    csr.row_start.push_back(static_cast<Index>(csr.value.size()));
  }
  return csr;
}

/// Zeroes most entries and gives columns different sizes.
Sample thinned(Sample sample) {
  Random random(2, "test.thin");
  for (Index i = 0; i < sample.rows(); ++i) {
    for (Index j = 0; j < sample.x.cols(); ++j)
      sample.x(i, j) *= random.uniform() < 0.9 ? 0.0 : 1.0 + static_cast<double>(j % 7);
  }
  return sample;
}

void expect_optimum(const Sample& sample, const LinearFit& best, const FitSettings& settings) {
  EXPECT_TRUE(best.converged);
  // The gradient by the definition, in one product.
  Matrix residual = sample.x * best.weights.transpose();
  residual.rowwise() += best.offset.transpose();
  for (Index i = 0; i < residual.rows(); ++i) {
    const std::int32_t y = sample.cls[static_cast<std::size_t>(i)];
    if (sample.classes == 2) {
      residual(i, 0) = 1 / (1 + std::exp(-residual(i, 0))) - y;
    } else {
      residual.row(i) = (residual.row(i).array() - residual.row(i).maxCoeff()).exp();
      residual.row(i) /= residual.row(i).sum();
      residual(i, y) -= 1;
    }
  }
  const Matrix gradient =
      residual.transpose() * sample.x / static_cast<double>(sample.rows()) + 2 * settings.l2 * best.weights;
  EXPECT_LT(gradient.cwiseAbs().maxCoeff(), 1e-12);
  if (settings.offset) {
    EXPECT_LT(residual.colwise().mean().cwiseAbs().maxCoeff(), 1e-12);
  }
  EXPECT_LT(best.kkt, 1e-12);
}

TEST(LogisticRoutes, SameBytesForAnyThreads) {
  for (const Index classes : {2, 3}) {
    Sample sample = draw_sample(11000, 6, classes);  // 22 blocks
    sample.weight = Vector::LinSpaced(11000, 0.1, 2.0);
    const LinearFit one = fit(sample, {.l2 = 1e-3, .threads = 1});
    for (const int threads : {2, 7})
      EXPECT_TRUE(same_bytes(one, fit(sample, {.l2 = 1e-3, .threads = threads}))) << classes;
  }
}

TEST(LogisticRoutes, IterativeSameBytesForAnyThreads) {
  // 21 blocks; 39 x 41 parameters are too many for a Hessian.
  const Sample sample = draw_sample(10500, 40, 40);
  const LinearFit one = fit(sample, {.l2 = 1, .threads = 1});
  EXPECT_TRUE(one.converged);
  for (const int threads : {2, 7}) EXPECT_TRUE(same_bytes(one, fit(sample, {.l2 = 1, .threads = threads})));
}

TEST(LogisticRoutes, SparseSameBytesForAnyThreads) {
  Sample labels;
  const Features x = Features::sparse(wide_rows(330, 66000, labels));
  ASSERT_GE(x.blocks(), 20);
  const LinearFit one = fit(x, labels, {.l2 = 1, .threads = 1});
  EXPECT_TRUE(one.converged);
  for (const int threads : {2, 7}) EXPECT_TRUE(same_bytes(one, fit(x, labels, {.l2 = 1, .threads = threads})));
}

TEST(LogisticRoutes, SparseIsDense) {
  for (const Index classes : {2, 3}) {
    // Few columns: the Hessian is formed; many: conjugate gradients.
    for (const Index cols : {20, 1510}) {
      const Sample sample = thinned(draw_sample(100, cols, classes));
      for (const bool offset : {true, false}) {
        const FitSettings settings{.l2 = 0.05, .offset = offset};
        const LinearFit dense = fit(sample, settings);
        const LinearFit sparse = fit(Features::sparse(to_csr(sample.x)), sample, settings);
        expect_optimum(sample, dense, settings);
        expect_optimum(sample, sparse, settings);
        EXPECT_LT(gap(dense, sparse), 1e-10) << cols;
      }
    }
  }
}

TEST(LogisticRoutes, IterativeAgreesWithDirect) {
  // The same 250 columns of a problem with 6 classes, once with 60 zero columns more, which only change the route.
  const Sample sample = draw_sample(300, 250, 6);
  Sample wider = sample;
  wider.x = Matrix::Zero(300, 310);
  wider.x.leftCols(250) = sample.x;
  const LinearFit a = fit(sample, {.l2 = 1e-3});
  const LinearFit b = fit(wider, {.l2 = 1e-3});
  EXPECT_TRUE(a.converged && b.converged);
  EXPECT_LT((a.weights - b.weights.leftCols(250)).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_EQ(b.weights.rightCols(60).cwiseAbs().maxCoeff(), 0.0);
}

TEST(LogisticRoutes, ManyColumnsFarFromTheOrigin) {
  Sample sample = draw_sample(100, 1510);
  sample.x.array() += 1e6;
  const LinearFit far = fit(sample, {.l2 = 0.01});
  sample.x.array() -= 1e6;  // the rounding of the shift is in both
  const LinearFit near = fit(sample, {.l2 = 0.01});
  EXPECT_TRUE(far.converged && near.converged);
  EXPECT_LT((far.weights - near.weights).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_NEAR(far.risk, near.risk, 1e-13);
}

TEST(LogisticRoutes, ManyMoreColumnsThanRows) {
  Sample sample;
  const Features x = Features::sparse(wide_rows(24, 30000, sample));
  sample.x = x.to_matrix();
  const FitSettings settings{.l2 = 0.01};
  const LinearFit dense = fit(sample, settings);
  const LinearFit sparse = fit(x, sample, settings);
  expect_optimum(sample, dense, settings);
  expect_optimum(sample, sparse, settings);
  EXPECT_LT(gap(dense, sparse), 1e-10);
  EXPECT_EQ(error_code(sample, {}), "separable");
}

TEST(LogisticRoutes, RanksSendSumsAndNoNumberPerRow) {
  const Sample sample = draw_sample(6000, 3);
  for (const LinearSolver solver : {LinearSolver::lbfgs, LinearSolver::newton}) {
    const LinearProblem problem{
        .x = Features::dense(sample.x), .cls = sample.cls, .weight = sample.weight, .l2 = 0.01, .solver = solver};
    const LinearFit alone = fit_linear(problem, Context({.threads = 1}));
    RankThreads(3).run([&](Communicator& ranks) {
      const Context context({.threads = 1, .ranks = &ranks});
      const LinearFit found = fit_linear(problem, context);
      EXPECT_EQ(found.weights, alone.weights);
      EXPECT_EQ(found.offset, alone.offset);
      EXPECT_EQ(context.ranks().traffic().shares, 0U) << solver_name(solver);
    });
  }
}

}  // namespace logistic_routes_test
}  // namespace ecotone
