#include "ecotone/solve/trees/boosted.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ecotone/base/memory.h"
#include "ecotone/base/random.h"
#include "ecotone/solve/trees/anchor.h"
#include "ecotone/solve/trees/domain_splits.h"
#include "ecotone/solve/trees/scorer.h"

namespace ecotone {

namespace {

constexpr Index scored_at_once = 1 << 14;
constexpr std::size_t drawn_at_once = 1 << 12;

/// Leaves that are not the plain Newton steps of growing.
void set_leaf_values(GrownTree& grown, const TreeLabels& labels, const Matrix& scores, const TreeOptions& options,
                     const Context& context) {
  std::vector<double>& value = grown.tree.value;
  if (labels.loss == TreeLoss::poisson)
    for (double& v : value) v = options.rate * cut_step(labels, v / options.rate);
  if (!labels.by_quantile()) return;
  const std::vector<std::uint32_t> weight = integer_weights(labels.weight, labels.y.size());
  std::vector<std::vector<std::pair<double, std::uint64_t>>> residuals(value.size());
  for (Index i = 0; i < labels.y.size(); ++i)
    if (weight[at(i)] > 0) residuals[at(grown.leaf[at(i)])].emplace_back(labels.y[i] - scores(i, 0), weight[at(i)]);
  context.parallel(std::ssize(value), [&](Index l) {
    value[at(l)] = options.rate * weighted_quantile(std::move(residuals[at(l)]), labels.level());
  });
  for (std::size_t l = 0; l < grown.bounds.size(); ++l)
    value[l] = options.rate * std::clamp(value[l] / options.rate, grown.bounds[l].first, grown.bounds[l].second);
}

/// Scores, derivatives and leaves of all rows, a histogram for every leaf that may be open at once, and where splits
/// look at domains one for each of them.
void check_memory(const TreeRows& data, Index outputs, Index domains, const TreeOptions& options) {
  const auto rows = at(data.rows);
  const auto leaves = at(std::min<Index>(options.leaves, data.rows / std::max<Index>(options.min_rows, 1) + 1));
  const std::size_t of_rows = rows * (at(outputs) * (3 * sizeof(double) + sizeof(std::int32_t)) + 4 * sizeof(double));
  const std::size_t of_leaves = leaves * data.column.size() * cells_per_column * sizeof(GradientSums);
  const std::size_t of_domains = DomainSplits::needed(options) ? at(domains) * DomainSplits::bytes_of_column : 0;
  require_memory(of_rows + of_leaves + of_domains * data.column.size(), "trees",
                 "derivatives of all rows and histograms of all leaves and domains",
                 "use fewer rows, columns, leaves or domains");
}

/// The rows and columns of tree number `tree`, drawn from streams of their own.
TreeDraw drawn(const std::vector<std::uint32_t>& in_use, Index columns, const TreeOptions& options, Index tree,
               const Context& context) {
  TreeDraw draw;
  const auto number = static_cast<std::uint64_t>(tree);
  if (options.rows < 1) {
    const Context own = context.derived("rows of a tree", number);
    std::optional<Random> random;
    for (std::size_t i = 0, block = 0; i < in_use.size(); ++i) {
      const std::size_t of_row = in_use[i] / drawn_at_once;
      if (!random || of_row != block) random.emplace(own.random("rows", block = of_row));
      if (random->uniform() < options.rows) draw.rows.push_back(in_use[i]);
    }
  }
  if (draw.rows.empty()) draw.rows = in_use;
  if (options.cols < 1) {
    const auto count = static_cast<Index>(std::ceil(options.cols * static_cast<double>(columns)));
    draw.columns = context.random("columns of a tree", number).sample(columns, count);
    std::sort(draw.columns.begin(), draw.columns.end());
  }
  return draw;
}

/// Ranks divide the rows where there are many; of fewer, to send the sums of every leaf takes longer than to make them.
/// Splits that look at domains, and anchors, need the derivatives of all.
RankRows rows_of_rank(Index rows, const std::vector<std::uint32_t>& in_use, const TreeOptions& options,
                      const Context& context) {
  constexpr Index fewest_divided = 1 << 18;
  if (!context.meets_ranks() || std::ssize(in_use) < fewest_divided || DomainSplits::needed(options) ||
      options.gamma != 1)
    return {{0, rows}};
  return {groups_of_rank(rows, context.ranks().rank(), context.ranks().size()), true};
}

void add_leaves(const std::vector<GrownTree>& grown, Matrix& scores, const Context& context) {
  const Index n = scores.rows();
  context.parallel((n + scored_at_once - 1) / scored_at_once, [&](Index b) {
    for (Index i = b * scored_at_once; i < std::min(n, (b + 1) * scored_at_once); ++i)
      for (Index k = 0; k < scores.cols(); ++k) {
        const GrownTree& own = grown[at(k)];
        scores(i, k) += own.tree.value[at(own.leaf[at(i)])];
      }
  });
}

}  // namespace

Matrix tree_scores(const BoostedTrees& model, const std::vector<TreeColumn>& columns, const Features& x,
                   const Context& context) {
  return TreeScorer(model, columns, x.rows()).scores(x, context);
}

std::vector<std::int32_t> tree_leaves(const DecisionTree& tree, const std::vector<TreeColumn>& columns,
                                      const Features& x, const Context& context) {
  std::vector<std::int32_t> leaves(at(x.rows()));
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) leaves[at(block.first + i)] = leaf_in(tree, columns, block, i);
  });
  return leaves;
}

BoostedTrees boost_trees(const TreeRows& data, const TreeLabels& labels, const TreeDomains& domains, Index rounds,
                         const TreeOptions& options, const Context& context, const AfterRound& after,
                         const AfterTree& after_tree) {
  check_memory(data, labels.outputs(), domains.count, options);
  BoostedTrees model;
  model.outputs = labels.outputs();
  model.start = start_scores(labels);
  Matrix scores = model.start.transpose().replicate(data.rows, 1);
  std::vector<std::uint32_t> in_use;
  for (Index i = 0; i < data.rows; ++i)
    if (labels.weight_of(i) > 0) in_use.push_back(static_cast<std::uint32_t>(i));
  const RankRows rows = rows_of_rank(data.rows, in_use, options, context);
  const bool anchored = options.gamma != 1;
  const AnchorLoss anchor(labels, domains, options.gamma);
  for (Index round = 0; round < rounds; ++round) {
    context.check_cancelled();
    AnchorLoss::Terms terms;
    if (anchored) terms = anchor.terms_of(scores.col(0));
    LossDerivatives derivatives =
        anchored ? anchor.derivatives_of(terms) : derivatives_of(labels, scores, rows.own, context);
    std::vector<GrownTree> grown;
    for (Index k = 0; k < model.outputs; ++k) {
      const Gradients gradients = Gradients::of(derivatives.first[at(k)], derivatives.second[at(k)], rows, context);
      derivatives.first[at(k)].resize(0);  // their memory is needed for growing
      derivatives.second[at(k)].resize(0);
      TreeDraw draw = drawn(in_use, std::ssize(data.column), options, round * model.outputs + k, context);
      grown.push_back(grow_tree(data, gradients, std::move(draw), domains, options, context));
      GrownTree& own = grown.back();
      if (anchored)
        own.tree.value =
            anchor.leaf_values(terms, own.leaf, std::ssize(own.tree.value), options.lam, options.rate, context);
      else
        set_leaf_values(own, labels, scores, options, context);
      if (after_tree) after_tree(own, gradients);
    }
    add_leaves(grown, scores, context);
    if (after) after(round, grown, scores);
    for (GrownTree& each : grown) model.trees.push_back(std::move(each.tree));
  }
  return model;
}

}  // namespace ecotone
