// Boosted trees against the golden cases in tests/golden/trees, and what holds whatever the data.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/rank_threads.h"
#include "ecotone/base/random.h"
#include "ecotone/solve/trees/boosted.h"
#include "ecotone/solve/trees/importance.h"
#include "ecotone/solve/trees/refit.h"
#include "solve/trees/golden_trees.h"

namespace ecotone::test {
namespace trees_test {

TEST(TreeBins, EdgesAndCodesAreTheGoldenOnes) {
  const Json cases = golden("bins")["cases"];
  ASSERT_FALSE(cases.empty());
  for (const Json& one : cases) {
    SCOPED_TRACE(one["note"].get<std::string>());
    const Vector x = vector_of(one["x"]);
    const Vector weight = one["weight"].is_null() ? Vector() : vector_of(one["weight"]);
    TreeColumn column;
    column.edge = edges_of({x.data(), at(x.size())}, integer_weights(weight, x.size()), one["max_bins"].get<int>());
    const Vector edges = vector_of(one["edges"]);
    ASSERT_EQ(std::ssize(column.edge), edges.size());
    for (Index k = 0; k < edges.size(); ++k) EXPECT_EQ(column.edge[at(k)], edges[k]);
    for (Index i = 0; i < x.size(); ++i) EXPECT_EQ(column.code(x[i]), one["codes"][at(i)].get<int>()) << x[i];
  }
}

/// Rows of weight 0 are not seen, also where edges come from a sample of the rows.
TEST(TreeBins, RowsWithoutWeightAreNotSeen) {
  constexpr Index rows = 250'000;
  Random random(4, "bins");
  Matrix x(rows, 1), seen(rows / 5, 1);
  Vector weight = Vector::Zero(rows);
  for (Index i = 0; i < rows; ++i) {
    x(i, 0) = i % 5 == 4 ? random.normal() : 100 + random.normal();
    if (i % 5 != 4) continue;
    weight[i] = 1;
    seen(i / 5, 0) = x(i, 0);
  }
  const Context context({.threads = 2});
  EXPECT_EQ(bin_rows(Features::dense(x), weight, {}, 255, context).column[0].edge,
            bin_rows(Features::dense(seen), Vector(), {}, 255, context).column[0].edge);
}

/// Levels come from all rows: one that a sample would miss is kept, and rarer ones than 255 are counted.
TEST(TreeBins, LevelsOfAllRowsAreCounted) {
  constexpr Index rows = 250'000;
  Matrix x(rows, 2);
  for (Index i = 0; i < rows; ++i) {
    x(i, 0) = i % 5 == 4 && i < 2500 ? 7 : static_cast<double>(i % 3);
    x(i, 1) = static_cast<double>(i % 1000 < 900 ? i % 10 : 100 + i % 300);
  }
  const std::vector<Index> categories = {0, 1};
  const Context context({.threads = 2});
  const TreeRows binned = bin_rows(Features::dense(x), Vector(), categories, 255, context);
  EXPECT_EQ(binned.column[0].level.by_code(), (std::vector<double>{0, 2, 1, 7}));  // 0 and 2 are as frequent
  EXPECT_EQ(binned.column[0].rare, 0);
  EXPECT_EQ(binned.column[1].level.size(), 255U);
  std::set<double> distinct;
  for (Index i = 0; i < rows; ++i) distinct.insert(x(i, 1));
  EXPECT_EQ(binned.column[1].rare, std::ssize(distinct) - 255);
  EXPECT_EQ(binned.codes(0)[4], 3);
}

TEST(TreeFixedPoint, SumsAreTheGoldenOnes) {
  const Json cases = golden("fixed_point")["cases"];
  ASSERT_FALSE(cases.empty());
  for (const Json& one : cases) {
    SCOPED_TRACE(one["note"].get<std::string>());
    const Vector values = vector_of(one["values"]);
    const FixedPoint scale = FixedPoint::of(values.cwiseAbs().maxCoeff());
    EXPECT_EQ(scale.exponent(), one["exponent"].get<int>());
    std::int64_t sum = 0;
    for (Index i = 0; i < values.size(); ++i) {
      EXPECT_EQ(std::to_string(scale.encode(values[i])), one["q"][at(i)].get<std::string>());
      sum += scale.encode(values[i]);
    }
    EXPECT_EQ(std::to_string(sum), one["sum_q"].get<std::string>());
    EXPECT_EQ(scale.decode(sum), one["sum"].get<double>());
  }
}

TreeOptions options_of(const Json& json) {
  TreeOptions o;
  o.rate = json["rate"];
  o.leaves = json["leaves"];
  o.lam = json["lam"];
  o.min_rows = json["min_rows"];
  o.min_hessian = json["min_hessian"];
  o.min_gain = json["min_gain"];
  o.min_domains = json["min_domains"];
  const std::string splits = json["splits"];
  o.splits = splits == "pooled"  ? SplitRule::pooled
             : splits == "agree" ? SplitRule::agree
             : splits == "vote"  ? SplitRule::vote
                                 : SplitRule::steady;
  o.rho = json["rho"];
  o.agree = json["agree"];
  o.cat_one_hot = json["cat_one_hot"];
  o.cat_smooth = json["cat_smooth"];
  o.cat_min_rows = json["cat_min_rows"];
  o.cat_lam = json["cat_lam"];
  o.cat_most = json["cat_most"];
  return o;
}

TreeLoss loss_of(const std::string& name) {
  const std::map<std::string, TreeLoss> losses{{"squared", TreeLoss::squared},   {"logistic", TreeLoss::logistic},
                                               {"softmax", TreeLoss::softmax},   {"poisson", TreeLoss::poisson},
                                               {"absolute", TreeLoss::absolute}, {"quantile", TreeLoss::quantile}};
  return losses.at(name);
}

void expect_node(const TreeNode& node, const Json& wanted, const TreeRows& rows) {
  EXPECT_EQ(node.feature, wanted["feature"].get<Index>());
  expect_close(node.gain, wanted["gain"]);
  expect_close(node.score, wanted["score"]);
  if (wanted.contains("levels")) {
    ASSERT_TRUE(node.categorical);
    std::vector<double> levels;
    const TreeColumn& column = rows.column[at(node.feature)];
    for (int code = 0; code < column.bins(); ++code)
      if (has_level(node.levels, code)) levels.push_back(column.level[at(code)]);
    std::sort(levels.begin(), levels.end());
    EXPECT_EQ(levels, wanted["levels"].get<std::vector<double>>());
  } else {
    EXPECT_EQ(node.bin, wanted["bin"].get<int>());
    EXPECT_EQ(node.missing_left, wanted["missing"] == "left");
    if (wanted.contains("threshold")) {
      EXPECT_EQ(node.threshold, number_of(wanted["threshold"]));
    }
  }
}

TreeLabels labels_of(const Json& json) {
  TreeLabels labels;
  labels.loss = loss_of(json["loss"]);
  labels.y = vector_of(json["y"]);
  labels.classes = json["classes"].is_null() ? 1 : json["classes"].get<Index>();
  labels.tau = json["tau"];
  if (!json["weight"].is_null()) labels.weight = vector_of(json["weight"]);
  return labels;
}

std::vector<std::uint32_t> numbers_up_to(Index count) {
  std::vector<std::uint32_t> numbers(at(count));
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

/// The splits of the root with positive scores, the best first.
std::vector<TreeNode> root_splits(const TreeRows& data, const Gradients& gradients, const TreeDomains& domains,
                                  const TreeOptions& options, const Context& context) {
  const std::vector<std::uint32_t> rows = numbers_up_to(data.rows);
  const GradientHistogram histogram = histogram_of(data, gradients, rows, context);
  const SplitNode root{histogram, histogram.total()};
  const SplitFinder finder(data, gradients, options);
  const DomainSplits by_domain(data, gradients, domains, options);
  std::vector<TreeNode> nodes;
  for (const TreeSplit& split : finder.all(root, context)) {
    TreeNode node = finder.node_of(root, split);
    if (DomainSplits::needed(options))
      node.score = by_domain.score(root, node, split.left, by_domain.cells_of(rows, split.column));
    if (node.score > 0) nodes.push_back(node);
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const TreeNode& a, const TreeNode& b) { return a.score > b.score; });
  return nodes;
}

class GoldenRounds : public ::testing::TestWithParam<const char*> {};

TEST_P(GoldenRounds, EveryTreeAndScore) {
  const Json d = golden(std::string("rounds_") + GetParam());
  const TreeLabels labels = labels_of(d);
  const std::vector<Index> categorical = d["categorical"].get<std::vector<Index>>();
  const std::vector<std::int32_t> domain = d["domain"].get<std::vector<std::int32_t>>();
  const TreeDomains domains{
      domain, *std::max_element(domain.begin(), domain.end()) + 1, {labels.weight.data(), at(labels.weight.size())}};
  const TreeOptions options = options_of(d["options"]);
  for (const int threads : {1, 2, 7}) {
    const Context context({.threads = threads});
    const TreeRows rows = bin_rows(Features::dense(matrix_of(d["X"])), labels.weight, categorical,
                                   d["options"]["max_bins"].get<int>(), context);
    const Vector start = start_scores(labels);
    for (Index k = 0; k < start.size(); ++k) expect_close(start[k], d["start"][at(k)]);
    const LossDerivatives first = derivatives_of(labels, start.transpose().replicate(rows.rows, 1), context);
    const auto best =
        root_splits(rows, Gradients::of(first.first[0], first.second[0], context), domains, options, context);
    ASSERT_GE(best.size(), d["root_best5"].size());
    for (std::size_t i = 0; i < d["root_best5"].size(); ++i) expect_node(best[i], d["root_best5"][i], rows);
    std::size_t tree = 0;
    const auto after = [&](Index round, const std::vector<GrownTree>& grown, const Matrix& scores) {
      for (const GrownTree& each : grown) {
        SCOPED_TRACE(tree);
        const Json& wanted = d["trees"][tree++];
        ASSERT_EQ(each.tree.nodes.size(), wanted["nodes"].size());
        for (std::size_t k = 0; k < each.tree.nodes.size(); ++k) {
          expect_node(each.tree.nodes[k], wanted["nodes"][k], rows);
          EXPECT_EQ(each.tree.nodes[k].left, wanted["nodes"][k]["left"].get<int>());
          EXPECT_EQ(each.tree.nodes[k].right, wanted["nodes"][k]["right"].get<int>());
        }
        for (std::size_t l = 0; l < each.tree.value.size(); ++l) {
          expect_close(each.tree.value[l], wanted["value"][l]);
          EXPECT_EQ(std::to_string(each.sums[l].g), wanted["leaf_sums"][l][0].get<std::string>());
          EXPECT_EQ(std::to_string(each.sums[l].h), wanted["leaf_sums"][l][1].get<std::string>());
          for (const Json& row : wanted["leaf_rows"][l])
            EXPECT_EQ(each.leaf[row.get<std::size_t>()], static_cast<std::int32_t>(l));
        }
      }
      const Matrix wanted = matrix_of(d["scores"][at(round)]);
      for (Index i = 0; i < scores.rows(); ++i)
        for (Index k = 0; k < scores.cols(); ++k) expect_close(scores(i, k), wanted(i, k));
    };
    const BoostedTrees model = boost_trees(rows, labels, domains, d["rounds"].get<Index>(), options, context, after);
    const Matrix ours = tree_scores(model, rows.column, Features::dense(matrix_of(d["X_new"])), context);
    const Matrix wanted = matrix_of(d["scores_new"]);
    for (Index i = 0; i < ours.rows(); ++i)
      for (Index k = 0; k < ours.cols(); ++k) expect_close(ours(i, k), wanted(i, k));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenRounds,
                         ::testing::Values("squared", "logistic", "softmax", "poisson", "absolute", "quantile",
                                           "weighted_logistic", "steady", "vote", "agree", "categorical"));

TEST(TreeDomainSplits, SumsGainsAndScoresAreTheGoldenOnes) {
  const Json d = golden("domain_gains");
  const Context context({.threads = 2});
  TreeLabels labels{.loss = TreeLoss::logistic, .y = vector_of(d["y"])};
  const std::vector<std::int32_t> domain = d["domain"].get<std::vector<std::int32_t>>();
  const TreeDomains domains{domain, 4};
  const TreeRows data = bin_rows(Features::dense(matrix_of(d["X"])), Vector(), {}, 255, context);
  const LossDerivatives first =
      derivatives_of(labels, start_scores(labels).transpose().replicate(data.rows, 1), context);
  const Gradients gradients = Gradients::of(first.first[0], first.second[0], context);
  EXPECT_EQ(gradients.g_scale.exponent(), d["exponents"][0].get<int>());
  EXPECT_EQ(gradients.h_scale.exponent(), d["exponents"][1].get<int>());
  const std::vector<std::uint32_t> rows = numbers_up_to(data.rows);
  const GradientHistogram histogram = histogram_of(data, gradients, rows, context);
  const SplitNode root{histogram, histogram.total()};
  const auto options_for = [](const std::string& rule) {
    TreeOptions options;
    options.min_rows = 5;
    options.agree = rule.ends_with("075") ? 0.75 : 1;
    options.rho = rule.ends_with("05") ? 0.5 : 1;
    if (rule.starts_with("steady")) options.splits = SplitRule::steady;
    if (rule.starts_with("vote")) options.splits = SplitRule::vote;
    if (rule.starts_with("agree")) options.splits = SplitRule::agree;
    if (rule == "min_domains") options.min_domains = 3;
    return options;
  };
  for (const Json& one : d["splits"]) {
    for (const auto& [rule, wanted] : one["scores"].items()) {
      SCOPED_TRACE(rule);
      const TreeOptions options = options_for(rule);
      const SplitFinder finder(data, gradients, options);
      const DomainSplits by_domain(data, gradients, domains, options);
      TreeNode node;
      node.feature = one["feature"];
      node.bin = one["bin"];
      node.missing_left = one["missing"] == "left";
      node.gain = one["gain"];
      const DomainSplits::Cells cells = by_domain.cells_of(rows, node.feature);
      GradientSums left;
      for (Index e = 0; e < 4; ++e) {
        GradientSums own;
        for (int code = 0; code < cells_per_column; ++code)
          if (node.goes_left(static_cast<std::uint8_t>(code))) own += cells.cell[at(e * cells_per_column + code)];
        EXPECT_EQ(std::to_string(own.g), one["G_left"][at(e)].get<std::string>());
        EXPECT_EQ(std::to_string(own.h), one["H_left"][at(e)].get<std::string>());
        EXPECT_EQ(own.rows, one["rows_left"][at(e)].get<Index>());
        left += own;
      }
      expect_close(by_domain.score(root, node, left, cells), wanted);
    }
  }
  for (const auto& [rule, wanted] : d["chosen"].items()) {
    SCOPED_TRACE(rule);
    const TreeOptions options = options_for(rule);
    const auto best = DomainSplits(data, gradients, domains, options).best(root, rows, context);
    ASSERT_TRUE(best);
    expect_node(*best, wanted, data);
  }
}

TEST(TreeRefit, LeavesAreTheGoldenOnes) {
  const Json d = golden("refit");
  const Json& c = d["case"];
  const Context context({.threads = 2});
  const TreeLabels labels = labels_of(c);
  const TreeOptions options = options_of(c["options"]);
  const TreeRows data = bin_rows(Features::dense(matrix_of(c["X"])), Vector(), {}, 255, context);
  const BoostedTrees model = boost_trees(data, labels, {}, c["rounds"].get<Index>(), options, context);
  TreeLabels target{.loss = TreeLoss::logistic, .y = vector_of(d["y_target"])};
  const Features x = Features::dense(matrix_of(d["X_target"]));
  const BoostedTrees refitted =
      refit_trees(model, data.column, x, target, options.rate, d["strength"].get<double>(), context);
  for (std::size_t t = 0; t < refitted.trees.size(); ++t)
    for (std::size_t l = 0; l < refitted.trees[t].value.size(); ++l)
      expect_close(refitted.trees[t].value[l], d["values"][t][l]);
  const Matrix scores = tree_scores(refitted, data.column, Features::dense(matrix_of(c["X_new"])), context);
  for (Index i = 0; i < scores.rows(); ++i) expect_close(scores(i, 0), d["scores_new"][at(i)][0]);
  const BoostedTrees same = refit_trees(model, data.column, x, target, options.rate, 1e300, context);
  for (std::size_t t = 0; t < same.trees.size(); ++t) EXPECT_EQ(same.trees[t].value, model.trees[t].value);
}

/// Rows with three informative columns of five, some values missing, of two classes.
struct Problem {
  Matrix x;
  TreeLabels labels;
};

Problem problem_of(Index rows) {
  Problem made{Matrix(rows, 5), {.loss = TreeLoss::logistic, .y = Vector(rows)}};
  Random random(3, "trees-test");
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 5; ++j) made.x(i, j) = random.normal();
    const double score = made.x(i, 0) - made.x(i, 1) * made.x(i, 2);
    made.labels.y[i] = random.uniform() < 1 / (1 + std::exp(-score)) ? 1 : 0;
    if (i % 7 == 0) made.x(i, i % 5) = std::nan("");
  }
  return made;
}

void expect_same(const BoostedTrees& a, const BoostedTrees& b) {
  ASSERT_EQ(a.trees.size(), b.trees.size());
  for (std::size_t t = 0; t < a.trees.size(); ++t) {
    EXPECT_EQ(a.trees[t].value, b.trees[t].value);
    ASSERT_EQ(a.trees[t].nodes.size(), b.trees[t].nodes.size());
    for (std::size_t k = 0; k < a.trees[t].nodes.size(); ++k) {
      const TreeNode &one = a.trees[t].nodes[k], &other = b.trees[t].nodes[k];
      EXPECT_EQ(std::tuple(one.feature, one.threshold, one.missing_left, one.left, one.right, one.gain),
                std::tuple(other.feature, other.threshold, other.missing_left, other.left, other.right, other.gain));
    }
  }
}

TEST(BoostedTrees, AreTheSameBytesForAnyNumberOfThreadsAndAnyOrderOfRows) {
  const Problem problem = problem_of(70'000);
  const auto fitted = [](const Problem& on, int threads) {
    const Context context({.threads = threads});
    const TreeRows data = bin_rows(Features::dense(on.x), Vector(), {}, 255, context);
    return boost_trees(data, on.labels, {}, 3, {.leaves = 31}, context);
  };
  const BoostedTrees one = fitted(problem, 1);
  for (const int threads : {2, 7}) expect_same(one, fitted(problem, threads));
  Problem turned = problem;
  turned.x = problem.x.colwise().reverse();
  turned.labels.y = problem.labels.y.reverse();
  expect_same(one, fitted(turned, 2));
}

/// From 2^18 rows on ranks divide them among each other.
TEST(BoostedTrees, AreTheSameBytesOnRanksWithRowsOfTheirOwn) {
  const Index rows = 280'000;
  const Problem problem = problem_of(rows);
  TreeLabels labels = problem.labels;
  labels.weight = Vector::Ones(rows);
  labels.weight.head(9000).setZero();  // rows that no tree is grown on
  std::vector<std::int32_t> domain;
  for (Index i = 0; i < rows; ++i) domain.push_back(static_cast<std::int32_t>(i % 3));
  const TreeDomains domains{domain, 3};
  for (const TreeShape shape : {TreeShape::leafwise, TreeShape::symmetric}) {
    const TreeOptions options{.shape = shape, .leaves = 8};
    const auto fitted = [&](Communicator* ranks) {
      const Context context({.threads = 1, .ranks = ranks});
      const TreeRows data = bin_rows(Features::dense(problem.x), labels.weight, {}, 255, context);
      Matrix last, gains = Matrix::Zero(3, 5);
      BoostedTrees model = boost_trees(
          data, labels, domains, 2, options, context,
          [&](Index, const std::vector<GrownTree>&, const Matrix& scores) { last = scores; },
          [&](const GrownTree& grown, const Gradients& gradients) {
            add_domain_gains(grown, gradients, domains, options.lam, context, gains);
          });
      return std::tuple(std::move(model), std::move(last), std::move(gains), context.ranks().traffic().added);
    };
    const auto [alone, scores, gains, none] = fitted(nullptr);
    EXPECT_EQ(none, 0U);
    std::size_t leaves = 0;
    for (const DecisionTree& tree : alone.trees) leaves += tree.value.size();
    for (const int size : {2, 3})
      RankThreads(size).run([&](Communicator& ranks) {
        const auto [model, own_scores, own_gains, sent] = fitted(&ranks);
        expect_same(alone, model);
        EXPECT_EQ(own_scores, scores);
        EXPECT_EQ(own_gains, gains);
        EXPECT_GE(sent, leaves * 5 * cells_per_column * sizeof(GradientSums)) << "the sums of every leaf";
      });
  }
}

TEST(BoostedTrees, LowerTheLossAndLearnTheProduct) {
  const Problem problem = problem_of(4000);
  const Context context({.threads = 2});
  const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), {}, 255, context);
  double loss = mean_tree_loss(problem.labels, start_scores(problem.labels).transpose().replicate(4000, 1));
  const double first = loss;
  const auto after = [&](Index, const std::vector<GrownTree>&, const Matrix& scores) {
    const double now = mean_tree_loss(problem.labels, scores);
    EXPECT_LT(now, loss);
    loss = now;
  };
  boost_trees(data, problem.labels, {}, 30, {}, context, after);
  EXPECT_LT(loss, 0.85 * first);
}

TEST(TreeHistogram, WhatIsLeftOfAParentIsTheOtherChild) {
  const Problem problem = problem_of(3000);
  const Context context({.threads = 2});
  const TreeRows data = bin_rows(Features::dense(problem.x), Vector(), {}, 20, context);
  const LossDerivatives first =
      derivatives_of(problem.labels, start_scores(problem.labels).transpose().replicate(3000, 1), context);
  const Gradients gradients = Gradients::of(first.first[0], first.second[0], context);
  const std::vector<std::uint32_t> all = numbers_up_to(3000);
  GradientHistogram parent = histogram_of(data, gradients, all, context);
  const GradientHistogram child = histogram_of(data, gradients, std::span(all).first(1234), context);
  const GradientHistogram other = histogram_of(data, gradients, std::span(all).subspan(1234), context);
  parent.subtract(child, context);
  for (std::size_t c = 0; c < parent.cell.size(); ++c) {
    EXPECT_EQ(parent.cell[c].g, other.cell[c].g);
    EXPECT_EQ(parent.cell[c].h, other.cell[c].h);
    EXPECT_EQ(parent.cell[c].rows, other.cell[c].rows);
  }
}

}  // namespace trees_test
}  // namespace ecotone::test
