#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/moments/gram_columns.h"

/// Shared by paths of all rules: work over ranges of columns, and steps that share the same Gram columns.
namespace ecotone {

/// Calls body(first, last) for ranges of the columns, on all threads if there are many columns.
template <class Body>
void over_columns(Index cols, const Context& context, const Body& body) {
  constexpr Index task = 8192;  // features per task
  const Index tasks = (cols + task - 1) / task;
  if (tasks == 1) {
    body(Index{0}, cols);
  } else {
    context.parallel(tasks, [&](Index t) { body(t * task, std::min(cols, (t + 1) * task)); });
  }
}

/// The features with the largest scores except the chosen one, at most `count`; those below 0 cannot be taken.
inline std::vector<Index> best_after(const Vector& score, Index chosen, Index count) {
  std::vector<Index> order;
  for (Index j = 0; j < score.size(); ++j)
    if (score[j] >= 0 && j != chosen) order.push_back(j);
  count = std::min(count, static_cast<Index>(order.size()));
  std::partial_sort(order.begin(), order.begin() + count, order.end(),
                    [&](Index a, Index b) { return score[a] > score[b] || (score[a] == score[b] && a < b); });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

/// Runs several paths together: in every step the columns that any of them needs are fetched in one pass, together with
/// guesses if these cost little. A path has `choose`, `runners_up` and `advance`; see GreedyPath.
template <class Path>
void run_side_by_side(std::span<Path> paths, Index steps, GramColumns& columns, const Context& context) {
  std::vector<std::optional<Index>> chosen(paths.size());
  const auto each = [&](const auto& body) {
    if (paths.size() == 1) {
      body(0);
    } else {
      context.parallel(static_cast<Index>(paths.size()), body);
    }
  };
  for (Index step = 0; step < steps; ++step) {
    context.check_cancelled();
    each([&](Index k) { chosen[at(k)] = paths[at(k)].choose(context); });
    std::vector<Index> wanted;
    for (const auto& j : chosen)
      if (j && !columns.has(*j) && std::find(wanted.begin(), wanted.end(), *j) == wanted.end()) wanted.push_back(*j);
    if (!wanted.empty()) {
      const Index room = columns.batch() - static_cast<Index>(wanted.size());
      const Index each_room = room / static_cast<Index>(paths.size());
      for (std::size_t k = 0; k < paths.size() && each_room > 0; ++k) {
        if (!chosen[k]) continue;
        Index taken = 0;
        for (const Index j : paths[k].runners_up(4 * each_room)) {
          if (taken == each_room) break;
          if (columns.has(j) || std::find(wanted.begin(), wanted.end(), j) != wanted.end()) continue;
          wanted.push_back(j);
          ++taken;
        }
      }
      columns.fetch(wanted, context);
    }
    each([&](Index k) {
      if (chosen[at(k)]) paths[at(k)].advance(columns, context);
    });
    if (std::none_of(chosen.begin(), chosen.end(), [](const auto& j) { return j.has_value(); })) return;
  }
}

}  // namespace ecotone
