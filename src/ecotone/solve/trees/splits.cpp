#include "ecotone/solve/trees/splits.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ecotone {

SplitFinder::SplitFinder(const TreeRows& data, const Gradients& gradients, const TreeOptions& options,
                         std::vector<Index> columns)
    : data_(data),
      options_(options),
      columns_(std::move(columns)),
      g_unit_(gradients.g_scale.unit()),
      h_unit_(gradients.h_scale.unit()) {
  if (!columns_.empty()) return;
  columns_.resize(data.column.size());
  std::iota(columns_.begin(), columns_.end(), Index{0});
}

double SplitFinder::bounded_gain(const SplitNode& node, int direction, const GradientSums& left,
                                 const GradientSums& right, double lam) const {
  const auto step = [&](const GradientSums& sums) {
    return std::clamp(-g(sums) / (h(sums) + lam), node.low, node.high);
  };
  const auto taken = [&](const GradientSums& sums, double penalty, double w) {
    return -(g(sums) * w + 0.5 * (h(sums) + penalty) * w * w);
  };
  const double wl = step(left), wr = step(right);
  if (direction * (wr - wl) < 0) return 0;
  return taken(left, lam, wl) + taken(right, lam, wr) - taken(node.total, options_.lam, newton_step(node.total, node));
}

template <class Visit>
void SplitFinder::each_number(const SplitNode& node, Index column, const Visit& visit) const {
  const GradientSums* cell = node.histogram.column(column);
  const GradientSums& missing = cell[missing_bin];
  const int bins = data_.column[at(column)].bins();
  const double whole = term(node.total, options_.lam);
  for (const bool missing_left : {false, true}) {
    if (missing_left && missing.rows == 0) break;
    GradientSums left = missing_left ? missing : GradientSums();
    // With missing rows on the right, all bins on the left are a split, too: present against missing.
    const int last = missing.rows > 0 && !missing_left ? bins : bins - 1;
    for (int b = 0; b < last; ++b) {
      left += cell[b];
      // Which side of those that have no value are on is no matter of direction.
      const int direction = b < bins - 1 ? direction_of(column) : 0;
      const double gain = gain_of(node, direction, whole, left, options_.lam);
      if (gain > 0) visit(b, missing_left, left, gain);
    }
  }
}

bool SplitFinder::few_levels(const GradientSums* cells, int bins) const {
  return std::count_if(cells, cells + bins, [](const GradientSums& cell) { return cell.rows > 0; }) <=
         options_.cat_one_hot;
}

std::vector<int> SplitFinder::sorted_levels(const GradientSums* cells, int bins) const {
  std::vector<int> levels;
  for (int b = 0; b < bins; ++b)
    if (cells[b].rows > 0 && cells[b].rows >= options_.cat_min_rows) levels.push_back(b);
  const auto rank = [&](int b) { return g(cells[b]) / (h(cells[b]) + options_.cat_smooth); };
  std::stable_sort(levels.begin(), levels.end(), [&](int a, int b) { return rank(a) < rank(b); });
  return levels;
}

template <class Visit>
void SplitFinder::each_set(const SplitNode& node, Index column, const Visit& visit) const {
  const GradientSums* cell = node.histogram.column(column);
  const int bins = data_.column[at(column)].bins();
  const double whole = term(node.total, options_.lam);
  if (few_levels(cell, bins)) {
    for (int b = 0; b < bins; ++b) {
      const double gain = cell[b].rows > 0 ? gain_of(node, 0, whole, cell[b], options_.lam) : 0;
      if (gain > 0) visit(b, false, cell[b], gain);
    }
    return;
  }
  std::vector<int> levels = sorted_levels(cell, bins);
  const auto most = std::min<std::size_t>((levels.size() + 1) / 2, at(options_.cat_most));
  for (const bool from_high : {false, true}) {
    if (from_high) std::reverse(levels.begin(), levels.end());
    GradientSums left;
    for (std::size_t k = 0; k < most; ++k) {
      left += cell[levels[k]];
      const double gain = gain_of(node, 0, whole, left, options_.lam + options_.cat_lam);
      if (gain > 0) visit(static_cast<int>(k) + 1, from_high, left, gain);
    }
  }
}

template <class Visit>
void SplitFinder::each(const SplitNode& node, Index column, const Visit& visit) const {
  if (data_.column[at(column)].categorical)
    each_set(node, column, visit);
  else
    each_number(node, column, visit);
}

std::optional<TreeSplit> SplitFinder::best_of(const SplitNode& node, Index column) const {
  TreeSplit best;
  best.gain = options_.min_gain;
  each(node, column, [&](int place, bool turned, const GradientSums& left, double gain) {
    if (gain > best.gain) best = {column, place, turned, left, gain};
  });
  return best.left.rows > 0 ? std::optional(best) : std::nullopt;
}

std::optional<TreeSplit> SplitFinder::best(const SplitNode& node, const Context& context) const {
  std::vector<std::optional<TreeSplit>> best(columns_.size());
  context.parallel(std::ssize(best), [&](Index k) { best[at(k)] = best_of(node, columns_[at(k)]); });
  std::optional<TreeSplit> first;
  for (const std::optional<TreeSplit>& each : best)
    if (each && (!first || each->gain > first->gain)) first = each;
  return first;
}

std::vector<TreeSplit> SplitFinder::all(const SplitNode& node, const Context& context) const {
  std::vector<std::vector<TreeSplit>> lists(columns_.size());
  context.parallel(std::ssize(lists), [&](Index k) {
    const Index j = columns_[at(k)];
    each(node, j, [&](int place, bool turned, const GradientSums& left, double gain) {
      lists[at(k)].push_back({j, place, turned, left, gain});
    });
  });
  std::vector<TreeSplit> splits;
  for (const auto& list : lists) splits.insert(splits.end(), list.begin(), list.end());
  return splits;
}

TreeNode SplitFinder::node_of(const SplitNode& node, const TreeSplit& split) const {
  TreeNode made;
  made.feature = split.column;
  made.gain = made.score = split.gain;
  const TreeColumn& column = data_.column[at(split.column)];
  const GradientSums* cell = node.histogram.column(split.column);
  made.categorical = column.categorical;
  if (!column.categorical) {
    made.bin = split.place;
    made.threshold =
        split.place < column.bins() - 1 ? column.edge[at(split.place)] : std::numeric_limits<double>::infinity();
    // A missing value that training did not see here goes where the larger H is.
    made.missing_left = cell[missing_bin].rows > 0 ? split.turned : split.left.h >= (node.total - split.left).h;
    return made;
  }
  if (few_levels(cell, column.bins())) {
    add_level(made.levels, split.place);
    return made;
  }
  std::vector<int> levels = sorted_levels(cell, column.bins());
  if (split.turned) std::reverse(levels.begin(), levels.end());
  for (int k = 0; k < split.place; ++k) add_level(made.levels, levels[at(k)]);
  return made;
}

}  // namespace ecotone
