#include "ecotone/solve/paths/greedy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "data/sparse_support.h"
#include "ecotone/solve/paths/nonnegative.h"
#include "ecotone/solve/paths/stopping.h"

namespace ecotone {
namespace greedy_path_test {

Context context(int threads = 2) { return Context(Context::Settings{.threads = threads, .seed = 1}); }

/// Six domains; a third of the columns have effects, half of them the same in every domain.
struct Sample {
  Features x;
  std::vector<std::int32_t> group;
  std::vector<std::string> names;
  Vector y;
  Vector none;

  Sample(Index rows, Index cols, bool sparse) {
    const Matrix values = test::random_sparse_matrix(rows, cols, 0.4, "path");
    Random random(11, "effects");
    Matrix effect = Matrix::Zero(6, cols);
    for (Index j = 0; j < cols; j += 3) {
      const double common = random.normal();
      for (Index d = 0; d < 6; ++d) effect(d, j) = j % 2 == 0 ? common : random.normal();
    }
    y.resize(rows);
    for (Index d = 0; d < 6; ++d) names.push_back(fmt::format("d{}", d));
    for (Index i = 0; i < rows; ++i) {
      group.push_back(static_cast<std::int32_t>(random.below(6)));
      y[i] = values.row(i).dot(effect.row(group.back())) + random.normal();
    }
    x = sparse ? Features::sparse(test::to_csr(values)) : Features::dense(values);
  }
  MomentRows rows() const { return {x, group, names, y, none}; }
};

/// All numbers of a selection, as bytes.
std::string bytes(const Selection& found) {
  std::string text;
  const auto add = [&](const auto& list) {
    text.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0]));
  };
  const auto add_path = [&](const PathResult& path) {
    add(path.indices);
    for (const auto* list : {&path.t, &path.mu, &path.sigma, &path.gain, &path.loss, &path.offset}) add(*list);
    for (const auto& list : path.weights) add(list);
    for (const auto& list : path.group_loss) add(list);
  };
  add_path(found.path);
  for (const PathResult& fold : found.folds) add_path(fold);
  return text;
}

Selection select(const Sample& s, GramKind kind, const PathOptions& options, PathStop stop, int threads) {
  const Moments moments = gather_moments(s.rows(), kind, context(threads));
  const auto columns = kind == GramKind::none ? columns_of_rows(s.rows(), moments) : columns_of_grams(moments);
  return select_features(moments, *columns, options, {.stop = stop}, context(threads));
}

TEST(GreedyPath, EqualBytesForAnyNumberOfThreads) {
  for (const bool sparse : {false, true}) {
    const Sample s(21 * 512, 30, sparse);
    for (const GramKind kind : {GramKind::none, GramKind::double_precision}) {
      PathOptions options;
      options.steps = 12;
      const std::string one = bytes(select(s, kind, options, PathStop::lodo, 1));
      EXPECT_GT(one.size(), 1000U);
      EXPECT_TRUE(bytes(select(s, kind, options, PathStop::lodo, 2)) == one);
      EXPECT_TRUE(bytes(select(s, kind, options, PathStop::lodo, 7)) == one);
    }
  }
}

TEST(GreedyPath, WideDataAreScoredInParallelWithTheSameBytes) {
  // More columns than one task takes.
  const Sample s(60, 9000, true);
  PathOptions options;
  options.steps = 8;
  options.mode = PathMode::ortho_resid;
  const std::string one = bytes(select(s, GramKind::none, options, PathStop::steps, 1));
  EXPECT_TRUE(bytes(select(s, GramKind::none, options, PathStop::steps, 7)) == one);
}

TEST(GreedyPath, MomentsMergedInAnyOrderGiveTheSamePath) {
  const Sample s(700, 20, false);
  const Matrix x = s.x.to_matrix();
  std::vector<std::vector<Index>> parts(7);
  Random random(3, "parts");
  for (Index i = 0; i < 700; ++i) parts[random.below(7)].push_back(i);
  PathOptions options;
  options.steps = 30;
  const Selection whole = select(s, GramKind::double_precision, options, PathStop::lodo, 2);
  for (int round = 0; round < 3; ++round) {
    std::optional<Moments> sum;
    for (std::size_t k = 0; k < 7; ++k) {
      const auto& rows = parts[round == 0 ? k : round == 1 ? 6 - k : (k * 3 + 2) % 7];
      const Features some = s.x.take(rows);
      std::vector<std::int32_t> group;
      for (const Index i : rows) group.push_back(s.group[static_cast<std::size_t>(i)]);
      const Vector y = s.y(rows);
      const Moments part = gather_moments({some, group, s.names, y, s.none}, GramKind::double_precision, context());
      if (sum) {
        sum->merge(part);
      } else {
        sum = part;
      }
    }
    const auto columns = columns_of_grams(*sum);
    const Selection found = select_features(*sum, *columns, options, {.stop = PathStop::lodo}, context());
    EXPECT_EQ(found.path.indices, whole.path.indices);
    EXPECT_EQ(found.taken, whole.taken);
    for (std::size_t k = 0; k < whole.path.loss.size(); ++k)
      EXPECT_NEAR(found.path.loss[k], whole.path.loss[k], 1e-11 * whole.path.loss[k]);
  }
}

TEST(GreedyPath, FoldsAreThePathsWithoutTheirDomain) {
  const Sample s(600, 15, false);
  PathOptions options;
  options.steps = 10;
  options.centring = {true, true};
  for (const PathMode mode : {PathMode::stagewise, PathMode::stepwise, PathMode::ortho, PathMode::ortho_resid}) {
    options.mode = mode;
    const Selection all = select(s, GramKind::none, options, PathStop::lodo, 2);
    std::vector<Index> rest;
    std::vector<std::int32_t> group;
    for (Index i = 0; i < 600; ++i) {
      if (s.group[static_cast<std::size_t>(i)] == 2) continue;
      rest.push_back(i);
      group.push_back(s.group[static_cast<std::size_t>(i)]);
    }
    const Features x = s.x.take(rest);
    for (auto& g : group) g = g > 2 ? g - 1 : g;
    std::vector<std::string> names = s.names;
    names.erase(names.begin() + 2);
    const Vector y = s.y(rest);
    const MomentRows rows{x, group, names, y, s.none};
    const Moments moments = gather_moments(rows, GramKind::none, context());
    const auto columns = columns_of_rows(rows, moments);
    const Selection alone = select_features(moments, *columns, options, {}, context());
    ASSERT_EQ(all.folds[2].indices, alone.path.indices);
    // The loss on the held-out rows, from the rows themselves.
    const Vector w = alone.path.weights_after(10);
    double loss = 0;
    double count = 0;
    const Matrix values = s.x.to_matrix();
    for (Index i = 0; i < 600; ++i) {
      if (s.group[static_cast<std::size_t>(i)] != 2) continue;
      double score = alone.path.offset_after(10);
      for (Index k = 0; k < w.size(); ++k) score += w[k] * values(i, alone.path.support[static_cast<std::size_t>(k)]);
      loss += (s.y[i] - score) * (s.y[i] - score);
      count += 1;
    }
    EXPECT_NEAR(all.left_out->table[2][10], loss / count, 1e-10);
  }
}

TEST(GreedyPath, SingleGramKeepsTheFirstPicks) {
  const Sample s(2000, 40, false);
  PathOptions options;
  options.steps = 15;
  const Selection wide = select(s, GramKind::double_precision, options, PathStop::steps, 2);
  options.zero = 1e-5;
  const Selection narrow = select(s, GramKind::single_precision, options, PathStop::steps, 2);
  EXPECT_EQ(narrow.path.indices, wide.path.indices);
}

TEST(GreedyPath, SumsThatOverflowEndIt) {
  const Sample sample(300, 6, false);
  const Moments whole = gather_moments(sample.rows(), GramKind::double_precision, context());
  for (const PathRule rule : {PathRule::tgreedy, PathRule::greedy})
    for (const PathMode mode : {PathMode::stagewise, PathMode::stepwise, PathMode::ortho, PathMode::ortho_resid}) {
      PathOptions options;
      options.rule = rule;
      options.mode = mode;
      options.steps = 6;
      // mu^2 of every feature overflows: none can be compared.
      Moments moments = whole;
      moments.xy *= 1e200;
      Selection found = select_features(moments, *columns_of_grams(moments), options, {.folds = true}, context());
      EXPECT_EQ(found.path.steps(), 0);
      EXPECT_TRUE(found.path.stopped_early);
      // Grams that do not belong to the other sums: all residuals overflow after the first step.
      moments = whole;
      for (auto& gram : moments.gram)
        for (Index i = 0; i < 6; ++i)
          for (Index j = 0; j <= i; ++j) gram.add(i, j, 1e306);
      found = select_features(moments, *columns_of_grams(moments), options, {.folds = true}, context());
      EXPECT_LE(found.path.steps(), 6);
      for (const double p : found.path.pvalue) EXPECT_FALSE(std::isnan(p));
    }
}

TEST(NonNegative, SolvesItsConditions) {
  Random random(6, "nnls");
  for (int round = 0; round < 20; ++round) {
    Matrix a(12, 6);
    Vector b(12);
    for (Index i = 0; i < 12; ++i) {
      for (Index j = 0; j < 6; ++j) a(i, j) = random.normal();
      b[i] = random.normal();
    }
    if (round % 4 == 0) a.col(5) = a.col(2);  // singular
    const Matrix gram = a.transpose() * a;
    const Vector target = a.transpose() * b;
    const Vector w = nonnegative_least_squares(gram, target);
    const Vector gradient = gram * w - target;
    EXPECT_GE(w.minCoeff(), 0);
    // Where a weight is positive the gradient is 0, elsewhere it is not negative.
    EXPECT_GE(gradient.minCoeff(), -1e-9);
    EXPECT_LT(std::abs(gradient.dot(w)), 1e-9);
  }
}

}  // namespace greedy_path_test
}  // namespace ecotone
