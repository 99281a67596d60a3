#include "ecotone/solve/paths/ridge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/measure/fold_choice.h"
#include "ecotone/solve/paths/penalised_selection.h"
#include "solve/paths/penalised_support.h"

namespace ecotone::test {
namespace ridge_path_test {

TEST(RidgePath, BothRoutesAreTheDenseSolution) {
  for (const Index rows : {300, 40}) {
    const Sample s(rows, 25, 5, false);
    const Dense dense(s, -1);
    std::vector<Index> all;
    for (Index j = 0; j < 25; ++j) all.push_back(j);
    for (const double mix : {0.0, 0.5, 1.0}) {
      for (const double lam : {0.003, 1.0}) {
        const Vector w = dense.best(all, lam, mix).first.cwiseQuotient(dense.unit);
        for (const RidgeRoute route : {RidgeRoute::features, RidgeRoute::rows}) {
          const RidgePathFit found = fit_ridge_path(s.rows(), {.lam = lam, .mix = {mix}}, route, context());
          EXPECT_LT((found.weights - w).norm(), 1e-8 * w.norm()) << mix << " " << lam << " " << route_name(route);
          EXPECT_NEAR(found.offset, dense.y_mean - w.dot(dense.centre), 1e-7);
          EXPECT_FALSE(found.table);
        }
      }
    }
  }
}

TEST(RidgePath, FoldsAreRefitsWithoutTheDomain) {
  const Sample s(300, 8, 4, false);
  const RidgePathFit found = fit_ridge_path(s.rows(), {.lam = {}, .mix = {0.0, 1.0}}, context());
  ASSERT_TRUE(found.table);
  ASSERT_EQ(found.table->candidates.size(), 17U);
  EXPECT_EQ(found.table->criterion, LeftOutCriterion::squared_loss);
  const Matrix x = s.x.to_matrix();
  std::vector<Index> all{0, 1, 2, 3, 4, 5, 6, 7};
  Matrix losses(4, 17);
  for (Index c = 0; c < 17; ++c) {
    const Candidate& each = found.table->candidates[static_cast<std::size_t>(c)];
    for (Index d = 0; d < 4; ++d) {
      const Dense dense(s, d);
      const Vector w = c == 0 ? Vector(Vector::Zero(8))  // the empty model
                              : Vector(dense.best(all, each.lam, each.mix).first.cwiseQuotient(dense.unit));
      double loss = 0, total = 0;
      for (Index i = 0; i < x.rows(); ++i) {
        if (s.group[static_cast<std::size_t>(i)] != d) continue;
        const double off = s.y[i] - dense.y_mean - w.dot(x.row(i).transpose() - dense.centre);
        loss += s.weight[i] * off * off;
        total += s.weight[i];
      }
      losses(d, c) = loss / total;
    }
  }
  const Vector mean = bounded_losses(losses, losses.col(0)).colwise().mean().transpose();
  for (Index c = 0; c < 17; ++c) EXPECT_NEAR(found.table->value[static_cast<std::size_t>(c)], mean[c], 1e-8 * mean[c]);
}

TEST(RidgePath, PooledDomainsAreOne) {
  Sample s(300, 12, 4, false);
  const RidgePathFit pooled = fit_ridge_path(s.rows(), {.lam = 0.1, .shares = GroupShares::pooled}, context());
  s.names = {"all"};
  s.group.assign(s.group.size(), 0);
  const RidgePathFit one = fit_ridge_path(s.rows(), {.lam = 0.1}, context());
  EXPECT_LT((pooled.weights - one.weights).norm(), 1e-10 * one.weights.norm());
  EXPECT_NEAR(pooled.offset, one.offset, 1e-9);
}

TEST(RidgePath, ManyDomainsAreLeftOutTogether) {
  const Sample s(1500, 6, 70, true);
  const RidgePathFit ridge = fit_ridge_path(s.rows(), {}, context());
  EXPECT_EQ(ridge.table->folds, 64);
  EXPECT_GE(ridge.table->groups, 64);
  const MomentRows rows = s.rows();
  const Moments moments = gather_moments(rows, GramKind::double_precision, context());
  const auto columns = columns_of_grams(moments);
  const PenalisedSelection step = select_penalised(moments, *columns, &rows, {}, context());
  EXPECT_EQ(step.table->folds, 64);
  EXPECT_EQ(step.folds.size(), 70U);
  EXPECT_EQ(step.table->groups, ridge.table->groups);
}

TEST(RidgePath, ManyDomainsGiveOneAnswerByEitherRouteInAnyOrder) {
  Sample s(260, 9, 80, false);
  for (const GroupShares shares : {GroupShares::equal, GroupShares::pooled}) {
    const RidgePathOptions options{.lam = 0.1, .mix = {0.0, 1.0}, .shares = shares};
    const RidgePathFit features = fit_ridge_path(s.rows(), options, RidgeRoute::features, context());
    const RidgePathFit by_rows = fit_ridge_path(s.rows(), options, RidgeRoute::rows, context());
    ASSERT_EQ(features.table->folds, 64);
    EXPECT_EQ(features.table->best, by_rows.table->best);
    EXPECT_LT((features.weights - by_rows.weights).norm(), 1e-9 * by_rows.weights.norm());
    Sample turned = s;
    std::reverse(turned.names.begin(), turned.names.end());
    for (auto& group : turned.group) group = 79 - group;
    const RidgePathFit other = fit_ridge_path(turned.rows(), options, RidgeRoute::features, context());
    for (std::size_t c = 0; c < features.table->value.size(); ++c) {
      EXPECT_NEAR(features.table->value[c], by_rows.table->value[c], 1e-9 * by_rows.table->value[c]);
      EXPECT_NEAR(features.table->value[c], other.table->value[c], 1e-9 * other.table->value[c]);
    }
  }
}

TEST(RidgePath, ADomainOfHugeNumbersLeavesNoRoundingBehind) {
  Sample s(300, 6, 5, false);
  Matrix x = s.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i)
    if (s.group[static_cast<std::size_t>(i)] == 2) x.row(i) *= 1e8;
  s.x = Features::dense(x);
  const RidgePathFit features = fit_ridge_path(s.rows(), {}, RidgeRoute::features, context());
  const RidgePathFit by_rows = fit_ridge_path(s.rows(), {}, RidgeRoute::rows, context());
  for (std::size_t c = 0; c < features.table->value.size(); ++c)
    EXPECT_NEAR(features.table->value[c], by_rows.table->value[c], 1e-6 * by_rows.table->value[c]);
}

TEST(RidgePath, ConstantFeaturesHaveNoWeight) {
  Sample s(60, 70, 3, false);
  Matrix x = s.x.to_matrix();
  x.col(4).setConstant(7);
  s.x = Features::dense(x);
  for (const RidgeRoute route : {RidgeRoute::features, RidgeRoute::rows}) {
    const RidgePathFit found = fit_ridge_path(s.rows(), {.lam = 0.1}, route, context());
    EXPECT_EQ(found.weights[4], 0);
    EXPECT_TRUE(found.weights.allFinite());
  }
}

TEST(RidgePath, EqualBytesForAnyNumberOfThreads) {
  for (const Index rows : {21 * 512, 200}) {
    const Sample s(rows, 300, 4, true);
    std::vector<RidgePathFit> found;
    for (const int threads : {1, 2, 7}) found.push_back(fit_ridge_path(s.rows(), {}, context(threads)));
    EXPECT_EQ(found[0].route, rows == 200 ? RidgeRoute::rows : RidgeRoute::features);
    for (std::size_t k = 1; k < 3; ++k) {
      EXPECT_TRUE(found[k].weights == found[0].weights);
      EXPECT_TRUE(found[k].table->value == found[0].table->value);
    }
  }
}

}  // namespace ridge_path_test
}  // namespace ecotone::test
