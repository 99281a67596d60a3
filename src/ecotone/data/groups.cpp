#include "ecotone/data/groups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace ecotone {

namespace {

/// The rows of each group, in order of first appearance.
std::vector<std::vector<Index>> rows_by_group(std::span<const std::int32_t> group) {
  std::vector<std::vector<Index>> parts;
  std::unordered_map<std::int32_t, std::size_t> place;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto row = static_cast<Index>(i);
    const auto [found, is_new] = place.try_emplace(group[i], parts.size());
    if (group[i] < 0 || is_new) {
      parts.push_back({row});
    } else {
      parts[found->second].push_back(row);
    }
  }
  return parts;
}

/// What the folds hold so far.
class Folds {
 public:
  Folds(std::span<const std::int32_t> stratum, Index folds) : stratum_(stratum), rows_(at(folds), 0), held_(at(folds)) {
    for (const std::int32_t s : stratum) ++total_[s];
  }

  Index take(const std::vector<Index>& part) {
    std::map<std::int32_t, Index> own;
    for (const Index row : part) ++own[stratum_[at(row)]];
    std::size_t best = 0;
    for (std::size_t f = 1; f < rows_.size(); ++f)
      if (std::tuple(share(f, own), rows_[f]) < std::tuple(share(best, own), rows_[best])) best = f;
    rows_[best] += static_cast<Index>(part.size());
    for (const auto& [s, count] : own) held_[best][s] += count;
    return static_cast<Index>(best);
  }

 private:
  std::span<const std::int32_t> stratum_;
  std::unordered_map<std::int32_t, Index> total_;
  std::vector<Index> rows_;
  std::vector<std::unordered_map<std::int32_t, Index>> held_;

  /// How much of the strata of `own` a fold has already: sum_s own_s held_s / total_s.
  double share(std::size_t fold, const std::map<std::int32_t, Index>& own) const {
    double sum = 0;
    for (const auto& [s, count] : own) {
      const auto found = held_[fold].find(s);
      if (found != held_[fold].end())
        sum += static_cast<double>(count) * static_cast<double>(found->second) / static_cast<double>(total_.at(s));
    }
    return sum;
  }
};

}  // namespace

bool share_groups(std::span<const std::int32_t> group) {
  std::unordered_set<std::int32_t> seen;
  return std::ranges::any_of(group, [&](std::int32_t g) { return g >= 0 && !seen.insert(g).second; });
}

Index group_count(std::span<const std::int32_t> group) {
  std::unordered_set<std::int32_t> seen;
  return std::ranges::count_if(group, [&](std::int32_t g) { return g < 0 || seen.insert(g).second; });
}

std::vector<Index> deal_groups(std::span<const std::int32_t> group, std::span<const std::int32_t> stratum, Index folds,
                               Random random) {
  const std::vector<std::vector<Index>> parts = rows_by_group(group);
  std::vector<Index> order = random.permutation(static_cast<Index>(parts.size()));
  std::ranges::stable_sort(order, [&](Index a, Index b) { return parts[at(a)].size() > parts[at(b)].size(); });
  Folds dealt(stratum, folds);
  std::vector<Index> fold(group.size());
  for (const Index p : order) {
    const Index chosen = dealt.take(parts[at(p)]);
    for (const Index row : parts[at(p)]) fold[at(row)] = chosen;
  }
  return fold;
}

std::vector<Index> without_groups_of(std::span<const Index> held, std::vector<Index> rows,
                                     std::span<const std::int32_t> group) {
  if (group.empty()) return rows;
  std::unordered_set<std::int32_t> out;
  for (const Index row : held)
    if (group[at(row)] >= 0) out.insert(group[at(row)]);
  std::erase_if(rows, [&](Index row) { return out.contains(group[at(row)]); });
  return rows;
}

std::vector<Index> draw_groups(std::span<const Index> rows, std::span<const std::int32_t> group, Index count,
                               Random& random) {
  std::vector<std::int32_t> own(rows.size(), -1);
  if (!group.empty())
    for (std::size_t i = 0; i < rows.size(); ++i) own[i] = group[at(rows[i])];
  const std::vector<std::vector<Index>> parts = rows_by_group(own);
  std::vector<Index> drawn;
  for (const Index part : random.permutation(static_cast<Index>(parts.size()))) {
    if (static_cast<Index>(drawn.size()) >= count) break;
    for (const Index place : parts[at(part)]) drawn.push_back(rows[at(place)]);
  }
  std::ranges::sort(drawn);
  return drawn;
}

std::vector<Index> in_one_domain_each(std::span<const std::int32_t> group, std::span<const std::int32_t> domain) {
  std::vector<Index> kept;
  for (const std::vector<Index>& part : rows_by_group(group)) {
    std::map<std::int32_t, Index> rows;
    for (const Index row : part) ++rows[domain[at(row)]];
    std::int32_t most = domain[at(part.front())];
    for (const Index row : part)
      if (rows[domain[at(row)]] > rows[most]) most = domain[at(row)];
    for (const Index row : part)
      if (domain[at(row)] == most) kept.push_back(row);
  }
  std::ranges::sort(kept);
  return kept;
}

}  // namespace ecotone
