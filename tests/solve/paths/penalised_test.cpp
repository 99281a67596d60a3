#include "ecotone/solve/paths/penalised.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ecotone/solve/paths/penalised_selection.h"
#include "ecotone/solve/paths/side_by_side.h"
#include "ecotone/solve/paths/stopping.h"
#include "solve/paths/penalised_support.h"

namespace ecotone::test {
namespace penalised_path_test {

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
  PenalisedOptions by_rank;
  by_rank.judge = {LeftOutScore::auroc, LeftOutRule::best};
  const PenalisedSelection found = select_penalised(moments, *columns, &rows, by_rank, context());
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
  LeftOutValues values(3, 5);
  values.auroc.setConstant(0.8);
  values.auroc.col(0).setConstant(0.5);
  const auto choose = [&](LeftOutCriterion criterion, LeftOutRule rule) {
    return choose_left_out(equal, values, criterion, rule, 3);
  };
  EXPECT_EQ(choose(LeftOutCriterion::auroc, LeftOutRule::best).best, 3);
  EXPECT_EQ(choose(LeftOutCriterion::auroc, LeftOutRule::one_se).best, 3);
}

TEST(PenalisedSelection, TakesTheSimplestWithinOneStandardErrorOfTheDifference) {
  const std::vector<Candidate> candidates = {{0, 0, 0}, {1, 0, 5}, {1, 0, 3}, {1, 0, 2}};
  LeftOutValues values(6, 4);
  // Losses differ much between groups, and differences between candidates little: errors are those of differences.
  for (Index d = 0; d < 6; ++d) {
    const double level = 1 + 3 * static_cast<double>(d);
    values.log_loss.row(d) << level + 8, level, level + (d % 3 == 1 ? -0.1 : 0.1), level + 0.4 + 0.05 * (d % 2);
  }
  const auto choose = [&](LeftOutRule rule) {
    return choose_left_out(candidates, values, LeftOutCriterion::log_loss, rule, 6);
  };
  EXPECT_EQ(choose(LeftOutRule::best).best, 1);
  // Size 3 is 0.033 behind, standard error 0.042; size 2 is 0.42 behind, standard error 0.01.
  EXPECT_EQ(choose(LeftOutRule::one_se).best, 2);
  EXPECT_TRUE(choose(LeftOutRule::one_se).beats_empty);
}

TEST(PenalisedSelection, OneGroupAloneCannotBeatTheEmptyModel) {
  // Two of three groups have one class, so that the AUROC of one is all there is.
  LeftOutValues values(3, 2);
  values.auroc.row(1) << 0.5, 0.9;
  const std::vector<Candidate> candidates = {{0, 0, 0}, {1, 0, 1}};
  const auto choose = [&] {
    return choose_left_out(candidates, values, LeftOutCriterion::auroc, LeftOutRule::best, 3);
  };
  EXPECT_EQ(choose().groups, 1);
  EXPECT_FALSE(choose().beats_empty);
  values.auroc.row(2) << 0.5, 0.8;
  EXPECT_EQ(choose().groups, 2);
  EXPECT_TRUE(choose().beats_empty);
}

TEST(PenalisedSelection, ASizeBeyondTheColumnsEndsEarly) {
  const Sample s(600, 10, 5, true);
  const MomentRows rows = s.rows();
  const Moments moments = gather_moments(rows, GramKind::double_precision, context());
  const auto columns = columns_of_grams(moments);
  const auto run = [&](Index size) {
    PenalisedOptions options;
    options.size = size;
    options.lam = 0.1;
    return select_penalised(moments, *columns, &rows, options, context()).path;
  };
  EXPECT_EQ(run(50).steps(), 10);
  EXPECT_TRUE(run(50).stopped_early);
  EXPECT_FALSE(run(10).stopped_early);
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

}  // namespace penalised_path_test
}  // namespace ecotone::test
