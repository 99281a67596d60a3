#include "ecotone/solve/trees/level_splits.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ecotone {

std::vector<GradientSums> LevelSplits::summed(std::span<const SplitNode> leaves, Index column) const {
  std::vector<GradientSums> cells(cells_per_column);
  for (const SplitNode& leaf : leaves)
    for (std::size_t code = 0; code < cells.size(); ++code) cells[code] += leaf.histogram.column(column)[code];
  return cells;
}

std::vector<LevelSplits::Sweep> LevelSplits::sweeps_of(const std::vector<GradientSums>& cells, Index column) const {
  const TreeColumn& bins = data_.column[at(column)];
  if (!bins.categorical) {
    std::vector<int> codes(at(bins.bins() - 1));
    std::iota(codes.begin(), codes.end(), 0);
    if (cells[missing_bin].rows == 0) return {{codes, false, false, options_.lam}};
    std::vector<int> present = codes;  // and the last bin: present against missing
    present.push_back(bins.bins() - 1);
    return {{present, false, false, options_.lam}, {codes, true, false, options_.lam}};
  }
  if (finder_.few_levels(cells.data(), bins.bins())) {
    std::vector<int> codes;
    for (int b = 0; b < bins.bins(); ++b)
      if (cells[at(b)].rows > 0) codes.push_back(b);
    return {{codes, false, true, options_.lam}};
  }
  std::vector<int> low = finder_.sorted_levels(cells.data(), bins.bins());
  std::vector<int> high(low.rbegin(), low.rend());
  const auto most = std::min<std::size_t>((low.size() + 1) / 2, at(options_.cat_most));
  low.resize(most);
  high.resize(most);
  const double lam = options_.lam + options_.cat_lam;
  return {{low, false, false, lam}, {high, false, false, lam}};
}

std::vector<double> LevelSplits::gains_of(std::span<const SplitNode> leaves, Index column, const Sweep& sweep) const {
  std::vector<double> gains(sweep.codes.size(), 0.0);
  for (const SplitNode& leaf : leaves) {
    const GradientSums* cell = leaf.histogram.column(column);
    const double whole = finder_.term(leaf.total, options_.lam);
    GradientSums left = sweep.missing_left ? cell[missing_bin] : GradientSums();
    for (std::size_t k = 0; k < gains.size(); ++k) {
      if (sweep.single) left = GradientSums();
      left += cell[sweep.codes[k]];
      const GradientSums right = leaf.total - left;
      if (finder_.allows(left, right))
        gains[k] += 0.5 * (finder_.term(left, sweep.lam) + finder_.term(right, sweep.lam) - whole);
    }
  }
  return gains;
}

LevelSplits::Found LevelSplits::best_of(std::span<const SplitNode> leaves, Index column) const {
  Found best{options_.min_gain};
  for (Sweep& sweep : sweeps_of(summed(leaves, column), column)) {
    const std::vector<double> gains = gains_of(leaves, column, sweep);
    const auto most = std::max_element(gains.begin(), gains.end());
    if (most == gains.end() || *most <= best.gain) continue;
    best = {*most, std::move(sweep), static_cast<std::size_t>(most - gains.begin())};
  }
  return best;
}

TreeNode LevelSplits::node_of(const std::vector<GradientSums>& cells, Index column, const Found& found) const {
  const TreeColumn& bins = data_.column[at(column)];
  const Sweep& sweep = found.sweep;
  TreeNode node;
  node.feature = column;
  node.categorical = bins.categorical;
  if (bins.categorical) {
    for (std::size_t k = sweep.single ? found.last : 0; k <= found.last; ++k) add_level(node.levels, sweep.codes[k]);
    return node;
  }
  node.bin = sweep.codes[found.last];
  node.threshold = node.bin < bins.bins() - 1 ? bins.edge[at(node.bin)] : std::numeric_limits<double>::infinity();
  std::int64_t below = 0, above = 0;
  for (int b = 0; b < bins.bins(); ++b) (b <= node.bin ? below : above) += cells[at(b)].h;
  node.missing_left = cells[missing_bin].rows > 0 ? sweep.missing_left : below >= above;
  return node;
}

std::vector<std::optional<TreeNode>> LevelSplits::best(std::span<const SplitNode> leaves,
                                                       const Context& context) const {
  std::vector<Found> found(columns_.size());
  context.parallel(std::ssize(found), [&](Index k) { found[at(k)] = best_of(leaves, columns_[at(k)]); });
  const auto most =
      std::max_element(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.gain < b.gain; });
  std::vector<std::optional<TreeNode>> nodes(leaves.size());
  if (most == found.end() || most->sweep.codes.empty()) return nodes;
  const Index column = columns_[at(most - found.begin())];
  const TreeNode common = node_of(summed(leaves, column), column, *most);
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    GradientSums left;
    for (int code = 0; code < cells_per_column; ++code)
      if (common.goes_left(static_cast<std::uint8_t>(code))) left += leaves[l].histogram.column(column)[code];
    const GradientSums right = leaves[l].total - left;
    if (!finder_.allows(left, right)) continue;
    nodes[l] = common;
    nodes[l]->gain = 0.5 * (finder_.term(left, most->sweep.lam) + finder_.term(right, most->sweep.lam) -
                            finder_.term(leaves[l].total, options_.lam));
    nodes[l]->score = most->gain;
  }
  return nodes;
}

}  // namespace ecotone
