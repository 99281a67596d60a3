#include "ecotone/solve/trees/domain_splits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace ecotone {

namespace {

constexpr Index rows_to_agree = 3;  // on either side, of a domain whose effect counts
constexpr Index rows_to_vote = 5;   // in the node

}  // namespace

GradientSums DomainSplits::Cells::left_of(Index e, const TreeNode& split) const {
  const GradientSums* own = cell.data() + e * cells_per_column;
  GradientSums left;
  if (!split.categorical) {
    left = up_to[at(e * cells_per_column + split.bin)];
    if (split.missing_left) left += own[missing_bin];
    return left;
  }
  for (int code = 0; code < cells_per_column; ++code)
    if (split.goes_left(static_cast<std::uint8_t>(code))) left += own[code];
  return left;
}

GradientSums DomainSplits::Cells::all_of(Index e) const {
  GradientSums all = up_to[at(e * cells_per_column + missing_bin - 1)];
  return all += cell[at(e * cells_per_column + missing_bin)];
}

DomainSplits::Cells DomainSplits::cells_of(std::span<const std::uint32_t> rows, Index column) const {
  Cells cells{std::vector<GradientSums>(at(domains_.count * cells_per_column)),
              {},
              std::vector<double>(at(domains_.count), 0.0)};
  const std::uint8_t* code = data_.codes(column);
  for (const std::uint32_t r : rows) {
    const Index e = domains_.index[r];
    const Gradients::Row own = gradients_.row[r];
    cells.cell[at(e * cells_per_column + code[r])] += GradientSums{own.g, own.h, 1};
    cells.weight[at(e)] += domains_.weight.empty() ? 1.0 : domains_.weight[r];
  }
  cells.up_to = cells.cell;
  for (Index e = 0; e < domains_.count; ++e)
    for (int b = 1; b < missing_bin; ++b)
      cells.up_to[at(e * cells_per_column + b)] += cells.up_to[at(e * cells_per_column + b - 1)];
  return cells;
}

std::vector<DomainSplits::Part> DomainSplits::parts_of(const SplitNode& node, const TreeNode& split,
                                                       const GradientSums& left, const Cells& cells) const {
  const double w0 = finder_.newton_step(node.total);
  const double wl = finder_.newton_step(left), wr = finder_.newton_step(node.total - left);
  const auto change = [&](const GradientSums& sums, double w) {
    return finder_.g(sums) * w + finder_.h(sums) * w * w / 2;
  };
  std::vector<Part> parts;
  for (Index e = 0; e < domains_.count; ++e) {
    const GradientSums whole = cells.all_of(e);
    if (whole.rows == 0) continue;
    const GradientSums on_left = cells.left_of(e, split);
    Part part{on_left, whole - on_left, cells.weight[at(e)], 0};
    part.gain = -change(part.left, wl) - change(part.right, wr) + change(whole, w0);
    parts.push_back(part);
  }
  return parts;
}

double DomainSplits::effect_of(const GradientSums& left, const GradientSums& right) const {
  return finder_.g(left) / finder_.h(left) - finder_.g(right) / finder_.h(right);
}

bool DomainSplits::enough_agree(const std::vector<Part>& parts, double effect) const {
  Index judged = 0, agree = 0;
  for (const Part& part : parts) {
    if (part.left.rows < rows_to_agree || part.right.rows < rows_to_agree) continue;
    ++judged;
    agree += effect_of(part.left, part.right) * effect > 0;
  }
  return judged >= 2 && static_cast<double>(agree) >= options_.agree * static_cast<double>(judged);
}

bool DomainSplits::enough_gain(const std::vector<Part>& parts) const {
  Index judged = 0, gain = 0;
  for (const Part& part : parts) {
    if (part.left.rows + part.right.rows < rows_to_vote) continue;
    ++judged;
    gain += part.gain > 0;
  }
  return static_cast<double>(gain) >= options_.agree * static_cast<double>(judged);
}

double DomainSplits::spread(const std::vector<Part>& parts) const {
  double total = 0, mean = 0, largest = 0, square = 0;
  for (const Part& part : parts) total += part.weight;
  for (const Part& part : parts) mean += part.gain / total;
  for (const Part& part : parts) largest = std::max(largest, std::abs(part.gain / part.weight - mean));
  // Gains are squares already: by a power of two, which rounds nothing, their squares stay in range.
  const double scale = largest > 0 ? std::exp2(std::clamp(std::ilogb(largest), -1000, 1000)) : 1;
  for (const Part& part : parts) {
    const double off = (part.gain / part.weight - mean) / scale;
    square += part.weight / total * off * off;
  }
  return total * (scale * std::sqrt(square));
}

double DomainSplits::score(const SplitNode& node, const TreeNode& split, const GradientSums& left,
                           const Cells& cells) const {
  constexpr double refused = 0;
  const std::vector<Part> parts = parts_of(node, split, left, cells);
  const auto on_left = std::ranges::count_if(parts, [](const Part& part) { return part.left.rows > 0; });
  const auto on_right = std::ranges::count_if(parts, [](const Part& part) { return part.right.rows > 0; });
  if (std::min(on_left, on_right) < options_.min_domains) return refused;
  switch (options_.splits) {
    case SplitRule::agree:
      return enough_agree(parts, effect_of(left, node.total - left)) ? split.gain : refused;
    case SplitRule::vote:
      return enough_gain(parts) ? split.gain : refused;
    case SplitRule::steady:
      return split.gain - options_.rho * spread(parts);
    default:
      return split.gain;
  }
}

std::optional<TreeNode> DomainSplits::best(const SplitNode& node, std::span<const std::uint32_t> rows,
                                           const Context& context) const {
  const std::vector<TreeSplit> splits = finder_.all(node, context);
  // By falling gain, equal ones in their order; few are looked at, so they are not all sorted.
  std::vector<std::size_t> heap(splits.size());
  std::iota(heap.begin(), heap.end(), std::size_t{0});
  const auto later = [&](std::size_t a, std::size_t b) {
    return splits[a].gain < splits[b].gain || (splits[a].gain == splits[b].gain && a > b);
  };
  std::make_heap(heap.begin(), heap.end(), later);
  std::map<Index, Cells> cells;
  std::optional<TreeNode> best;
  std::size_t number = 0;
  double best_score = options_.min_gain;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const std::size_t i = heap.back();
    heap.pop_back();
    const TreeSplit& split = splits[i];
    if (split.gain < best_score) break;
    auto found = cells.find(split.column);
    if (found == cells.end()) found = cells.emplace(split.column, cells_of(rows, split.column)).first;
    TreeNode made = finder_.node_of(node, split);
    made.score = score(node, made, split.left, found->second);
    if (made.score > best_score || (best && made.score == best_score && i < number)) {
      best_score = made.score;
      number = i;
      best = made;
    }
  }
  return best;
}

}  // namespace ecotone
