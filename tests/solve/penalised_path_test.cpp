#include "ecotone/solve/penalised_path.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "data/sparse_support.h"
#include "ecotone/solve/path_stopping.h"
#include "ecotone/solve/penalised_selection.h"
#include "ecotone/solve/ridge_path.h"
#include "ecotone/solve/side_by_side.h"

namespace ecotone {
namespace {

Context context(int threads = 2) { return Context(Context::Settings{.threads = threads, .seed = 1}); }

/// Domains with offsets, columns of different sizes, effects of which half vary over domains, and row weights; y is -1
/// or +1 or a number.
struct Sample {
  Features x;
  std::vector<std::int32_t> group;
  std::vector<std::string> names;
  Vector y;
  Vector weight;

  Sample(Index rows, Index cols, Index domains, bool classes) {
    Random random(5, "penalised");
    Matrix values(rows, cols);
    Matrix effect(domains, cols);
    Matrix shift(domains, cols);
    for (Index j = 0; j < cols; ++j) {
      const double common = random.normal();
      for (Index d = 0; d < domains; ++d) {
        effect(d, j) = j % 2 == 0 ? common : common + 2 * random.normal();
        shift(d, j) = random.normal();
      }
    }
    y.resize(rows);
    weight.resize(rows);
    for (Index d = 0; d < domains; ++d) names.push_back(fmt::format("d{}", d));
    for (Index i = 0; i < rows; ++i) {
      group.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(domains))));
      const Index d = group.back();
      const double factor = random.normal();
      for (Index j = 0; j < cols; ++j) values(i, j) = random.normal() + 0.6 * factor + 0.4 * shift(d, j);
      const double score = values.row(i).dot(effect.row(d)) + random.normal();
      y[i] = classes ? (score > 0 ? 1.0 : -1.0) : score;
      weight[i] = random.uniform(0.5, 2.0);
    }
    for (Index j = 0; j < cols; ++j)
      values.col(j) = values.col(j) * std::pow(3.0, double(j % 5)) + Vector::Constant(rows, double(j));
    x = Features::dense(values);
  }
  MomentRows rows() const { return {x, group, names, y, weight}; }
  Index domains() const { return static_cast<Index>(names.size()); }
};

/// G, b and s^2 of all domains but one, from the rows: what the moments must give.
struct Dense {
  Matrix g;
  Vector b, s2, centre, unit;
  double y_mean = 0, y2 = 0;

  Dense(const Sample& s, Index left_out) {
    const Matrix x = s.x.to_matrix();
    const Index p = x.cols();
    std::vector<Index> use;
    for (Index d = 0; d < s.domains(); ++d)
      if (d != left_out) use.push_back(d);
    const auto n = static_cast<double>(use.size());
    // Each row's share in the mean of the domains.
    Vector share = Vector::Zero(x.rows());
    for (const Index d : use) {
      double total = 0;
      for (Index i = 0; i < x.rows(); ++i)
        if (s.group[static_cast<std::size_t>(i)] == d) total += s.weight[i];
      for (Index i = 0; i < x.rows(); ++i)
        if (s.group[static_cast<std::size_t>(i)] == d) share[i] = s.weight[i] / total / n;
    }
    centre = x.transpose() * share;
    y_mean = s.y.dot(share);
    Matrix z = x.rowwise() - centre.transpose();
    unit = (z.cwiseAbs2().transpose() * share).cwiseSqrt();
    for (Index j = 0; j < p; ++j) z.col(j) /= unit[j];
    const Vector yc = s.y.array() - y_mean;
    g = z.transpose() * share.asDiagonal() * z;
    b = z.transpose() * share.cwiseProduct(yc);
    y2 = share.dot(yc.cwiseAbs2());
    Matrix of_domain(static_cast<Index>(use.size()), p);
    for (std::size_t k = 0; k < use.size(); ++k) {
      Vector mask = Vector::Zero(x.rows());
      for (Index i = 0; i < x.rows(); ++i)
        if (s.group[static_cast<std::size_t>(i)] == use[k]) mask[i] = n * share[i] * yc[i];
      of_domain.row(static_cast<Index>(k)) = (z.transpose() * mask).transpose();
    }
    const Matrix off = of_domain.rowwise() - of_domain.colwise().mean();
    s2 = off.colwise().squaredNorm().transpose() / (n - 1);
  }
  Vector penalty(double mix) const { return (1 - mix) + (mix / s2.mean() * s2.array()); }
  /// argmin of J on the given features, and J there.
  std::pair<Vector, double> best(const std::vector<Index>& on, double lam, double mix) const {
    const Vector v = penalty(mix);
    Matrix a = g(on, on);
    for (std::size_t k = 0; k < on.size(); ++k) a(static_cast<Index>(k), static_cast<Index>(k)) += lam * v[on[k]];
    const Vector target = b(on);
    const Vector w = Eigen::LDLT<Eigen::MatrixXd>(a).solve(target);
    return {w, y2 - w.dot(target)};
  }
};

PathResult run_path(const Sample& s, const Penalty& penalty, Index steps, std::vector<Index> held = {},
                    GramKind kind = GramKind::double_precision, int threads = 2) {
  const Moments moments = gather_moments(s.rows(), kind, context(threads));
  const auto columns = kind == GramKind::none ? columns_of_rows(s.rows(), moments) : columns_of_grams(moments);
  const auto scaled = std::make_shared<const ScaledMeans>(moments, GroupShares::equal, held);
  std::vector<Index> all;
  for (Index d = 0; d < s.domains(); ++d) all.push_back(d);
  std::vector<PenalisedPath> path;
  path.emplace_back(scaled, penalty, all);
  run_side_by_side(std::span(path), steps, *columns, context(threads));
  return std::move(path.front()).take();
}

TEST(PenalisedPath, WithoutPenaltyIsGreedySelectionByOrthogonalSteps) {
  const Sample s(500, 12, 6, false);
  const Moments moments = gather_moments(s.rows(), GramKind::double_precision, context());
  const auto columns = columns_of_grams(moments);
  PathOptions options;
  options.rule = PathRule::greedy;
  options.mode = PathMode::ortho;
  options.steps = 12;
  options.centring = {.x = true, .y = true};
  const PathResult greedy = select_features(moments, *columns, options, {}, context()).path;
  const PathResult found = run_path(s, {}, 12);
  EXPECT_EQ(found.indices, greedy.indices);
  ASSERT_EQ(found.steps(), 12);
  for (Index k = 1; k <= 12; ++k) {
    EXPECT_LT((found.weights_after(k) - greedy.weights_after(k)).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_NEAR(found.offset_after(k), greedy.offset_after(k), 1e-8);
    for (Index d = 0; d < 6; ++d) EXPECT_NEAR(found.group_loss_after(d, k), greedy.group_loss_after(d, k), 1e-8);
    EXPECT_NEAR(found.loss[static_cast<std::size_t>(k - 1)], greedy.loss[static_cast<std::size_t>(k - 1)], 1e-8);
  }
}

TEST(PenalisedPath, FirstPickAtALargeVariancePenaltyIsThatOfT) {
  for (const Index cols : {8, 15, 30}) {
    const Sample s(700, cols, 7, true);
    const Moments moments = gather_moments(s.rows(), GramKind::double_precision, context());
    const auto columns = columns_of_grams(moments);
    PathOptions options;
    options.steps = 1;
    options.centring = {.x = true, .y = true};
    const PathResult t = select_features(moments, *columns, options, {}, context()).path;
    EXPECT_EQ(run_path(s, {1e9, 1}, 1).indices, t.indices) << cols;
  }
}

TEST(PenalisedPath, EveryPickAndItsWeightsAreThoseOfBruteForce) {
  const Sample s(400, 9, 6, false);
  for (const Index left_out : {-1, 2}) {
    const Dense dense(s, left_out);
    const std::vector<Index> held = left_out < 0 ? std::vector<Index>{} : std::vector<Index>{left_out};
    for (const Penalty penalty : {Penalty{0.1, 0}, Penalty{0.3, 1}, Penalty{3, 0.5}}) {
      const PathResult found = run_path(s, penalty, 4, held);
      ASSERT_EQ(found.steps(), 4);
      std::vector<Index> chosen;
      double objective = dense.y2;
      for (std::size_t step = 0; step < 4; ++step) {
        Index best = -1;
        double least = objective;
        for (Index j = 0; j < 9; ++j) {
          if (std::find(chosen.begin(), chosen.end(), j) != chosen.end()) continue;
          std::vector<Index> with = chosen;
          with.push_back(j);
          const double value = dense.best(with, penalty.lam, penalty.mix).second;
          if (value < least) {
            least = value;
            best = j;
          }
        }
        ASSERT_EQ(found.indices[step], best) << "step " << step << " lam " << penalty.lam;
        // J falls by the gain.
        EXPECT_NEAR(found.gain[step], objective - least, 1e-9 * dense.y2);
        EXPECT_GT(found.gain[step], 0);
        objective = least;
        chosen.push_back(best);
        const Vector w = dense.best(chosen, penalty.lam, penalty.mix).first;
        double offset = dense.y_mean;
        for (std::size_t k = 0; k < chosen.size(); ++k) {
          const double weight = w[static_cast<Index>(k)] / dense.unit[chosen[k]];
          EXPECT_NEAR(found.weights[step][k], weight, 1e-9 * (1 + std::abs(weight)));
          offset -= weight * dense.centre[chosen[k]];
        }
        EXPECT_NEAR(found.offset[step], offset, 1e-8 * (1 + std::abs(offset)));
      }
    }
  }
}

TEST(PenalisedPath, LossOfTheGroupLeftOutIsThatOfItsRows) {
  const Sample s(300, 7, 4, false);
  const PathResult found = run_path(s, {0.1, 0}, 5, {3});
  const Matrix x = s.x.to_matrix();
  const Vector w = found.weights_after(5);
  double loss = 0;
  double total = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    if (s.group[static_cast<std::size_t>(i)] != 3) continue;
    double score = found.offset_after(5);
    for (std::size_t k = 0; k < 5; ++k) score += w[static_cast<Index>(k)] * x(i, found.support[k]);
    loss += s.weight[i] * (s.y[i] - score) * (s.y[i] - score);
    total += s.weight[i];
  }
  EXPECT_NEAR(found.group_loss_after(3, 5), loss / total, 1e-9 * loss / total);
}

TEST(PenalisedPath, ConstantFeaturesAreNeverTaken) {
  Sample s(200, 6, 3, false);
  Matrix x = s.x.to_matrix();
  x.col(2).setConstant(0.1);
  s.x = Features::dense(x);
  const PathResult found = run_path(s, {0.1, 0}, 6);
  EXPECT_EQ(found.steps(), 5);
  EXPECT_TRUE(found.stopped_early);
  EXPECT_EQ(std::count(found.indices.begin(), found.indices.end(), 2), 0);
}

std::string bytes(const PenalisedSelection& found) {
  std::string text;
  const auto add = [&](const auto& list) {
    text.append(reinterpret_cast<const char*>(list.data()), static_cast<std::size_t>(list.size()) * sizeof(list[0]));
  };
  add(found.path.indices);
  add(found.path.gain);
  for (const auto& list : found.path.weights) add(list);
  for (const auto& list : found.path.group_loss) add(list);
  add(found.table->value);
  return text;
}

TEST(PenalisedSelection, EqualBytesForAnyNumberOfThreads) {
  const Sample s(21 * 512, 24, 5, true);
  const MomentRows rows = s.rows();
  for (const GramKind kind : {GramKind::none, GramKind::double_precision}) {
    std::vector<std::string> found;
    for (const int threads : {1, 2, 7}) {
      const Moments moments = gather_moments(rows, kind, context(threads));
      const auto columns = kind == GramKind::none ? columns_of_rows(rows, moments) : columns_of_grams(moments);
      PenalisedOptions options;
      options.steps = 10;
      options.mix = {0, 1};
      found.push_back(bytes(select_penalised(moments, *columns, &rows, options, context(threads))));
    }
    EXPECT_GT(found[0].size(), 500U);
    EXPECT_TRUE(found[1] == found[0]);
    EXPECT_TRUE(found[2] == found[0]);
  }
}

TEST(PenalisedSelection, TakesTheBestOfTheTableAndTheSmallerOfEquals) {
  const Sample s(600, 10, 5, true);
  const MomentRows rows = s.rows();
  const Moments moments = gather_moments(rows, GramKind::double_precision, context());
  const auto columns = columns_of_grams(moments);
  const PenalisedSelection found = select_penalised(moments, *columns, &rows, {}, context());
  ASSERT_TRUE(found.table);
  EXPECT_EQ(found.table->criterion, LeftOutCriterion::auroc);
  EXPECT_EQ(found.table->groups, 5);
  // The empty model, and 7 penalties with sizes 1, 2, 3, 5, 7, 10.
  EXPECT_EQ(found.table->candidates.size(), 43U);
  EXPECT_EQ(found.table->value[0], 0.5);
  const Candidate& best = found.table->candidates[static_cast<std::size_t>(found.table->best)];
  const double top = *std::max_element(found.table->value.begin(), found.table->value.end());
  EXPECT_NEAR(found.table->value[static_cast<std::size_t>(found.table->best)], top, 1e-12);
  EXPECT_EQ(found.path.steps(), best.size);
  EXPECT_EQ(found.penalty.lam, best.lam);
  EXPECT_EQ(found.folds.size(), 5U);

  const std::vector<Candidate> equal = {{0, 0, 0}, {1, 0, 5}, {3, 0, 2}, {10, 0, 2}, {10, 1, 2}};
  LeftOutValues values{Matrix::Constant(3, 5, 0.8), Matrix::Zero(3, 5)};
  values.auroc.col(0).setConstant(0.5);
  EXPECT_EQ(choose_left_out(equal, values, LeftOutCriterion::squared_loss, EmptyModel::may_win, 3).best, 3);
}

TEST(PenalisedSelection, MomentsAloneGiveTheSquaredLoss) {
  const Sample s(600, 10, 5, true);
  const MomentRows rows = s.rows();
  Moments moments = gather_moments(rows, GramKind::double_precision, context());
  moments.classes = {"no", "yes"};
  const auto columns = columns_of_grams(moments);
  const PenalisedSelection found = select_penalised(moments, *columns, nullptr, {}, context());
  EXPECT_EQ(found.table->criterion, LeftOutCriterion::squared_loss);
  const Candidate& best = found.table->candidates[static_cast<std::size_t>(found.table->best)];
  const std::vector<PathResult> folds = found.folds;
  double mean = 0;
  for (Index d = 0; d < 5; ++d) mean += folds[static_cast<std::size_t>(d)].group_loss_after(d, best.size) / 5;
  EXPECT_NEAR(found.table->value[static_cast<std::size_t>(found.table->best)], mean, 1e-12);
}

TEST(PenalisedSelection, NoiseKeepsTheEmptyModel) {
  Sample s(400, 10, 8, false);
  Random random(2, "noise");
  for (double& value : s.y) value = random.normal();
  const MomentRows rows = s.rows();
  const Moments moments = gather_moments(rows, GramKind::double_precision, context());
  const auto columns = columns_of_grams(moments);
  PenalisedOptions options;
  const PenalisedSelection found = select_penalised(moments, *columns, &rows, options, context());
  EXPECT_TRUE(found.kept_empty);
  EXPECT_EQ(found.path.steps(), 0);
  // Who asks for a size gets it.
  options.size = 3;
  EXPECT_EQ(select_penalised(moments, *columns, &rows, options, context()).path.steps(), 3);
}

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
  EXPECT_EQ(found.table->criterion, LeftOutCriterion::rmse);
  const Matrix x = s.x.to_matrix();
  std::vector<Index> all{0, 1, 2, 3, 4, 5, 6, 7};
  for (std::size_t c = 1; c < 17; ++c) {
    const Candidate& each = found.table->candidates[c];
    double mean = 0;
    for (Index d = 0; d < 4; ++d) {
      const Dense dense(s, d);
      const Vector w = dense.best(all, each.lam, each.mix).first.cwiseQuotient(dense.unit);
      double loss = 0;
      double total = 0;
      for (Index i = 0; i < x.rows(); ++i) {
        if (s.group[static_cast<std::size_t>(i)] != d) continue;
        const double off = s.y[i] - dense.y_mean - w.dot(x.row(i).transpose() - dense.centre);
        loss += s.weight[i] * off * off;
        total += s.weight[i];
      }
      mean += std::sqrt(loss / total) / 4;
    }
    EXPECT_NEAR(found.table->value[c], mean, 1e-8 * mean) << each.lam << " " << each.mix;
  }
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

}  // namespace
}  // namespace ecotone
