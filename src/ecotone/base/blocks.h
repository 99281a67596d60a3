#pragma once

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/index.h"

namespace ecotone {

/// Runs body(first, last) for pieces of the rows 0 .. rows-1, which depend on their number alone.
template <class Body>
void parallel_rows(Index rows, const Context& context, Body&& body) {
  constexpr Index rows_at_once = 4096;
  context.parallel((rows + rows_at_once - 1) / rows_at_once,
                   [&](Index piece) { body(piece * rows_at_once, std::min(rows, (piece + 1) * rows_at_once)); });
}

/// How many partial sums `sum_blocks` keeps; depends only on the number of blocks.
inline Index sum_groups(Index blocks) { return std::min<Index>(blocks, 32); }

/// Sums over blocks 0 .. blocks-1 on all threads, in an order that depends only on the number of blocks.
///
/// `add(acc, b)` adds block b to an accumulator that started as a copy of `zero`. Blocks form at most 32 contiguous
/// groups, each added in order; groups are merged along a fixed binary tree, as soon as both children are ready, with
/// `acc.merge(other)` or `acc += other`. The result is therefore identical to the byte for any number of threads, and
/// about threads + 5 accumulators are alive at once.
template <class Acc, class Add>
Acc sum_blocks(Index blocks, const Context& context, Acc zero, Add&& add) {
  const Index groups = sum_groups(blocks);
  if (groups == 0) return zero;
  // Node (level, i) of the tree covers groups [i 2^level, (i + 1) 2^level).
  std::vector<std::vector<std::optional<Acc>>> tree;
  for (Index width = groups;; width = (width + 1) / 2) {
    tree.emplace_back(static_cast<std::size_t>(width));
    if (width == 1) break;
  }
  std::mutex mutex;
  auto merge = [](Acc& into, const Acc& other) {
    if constexpr (requires { into.merge(other); }) {
      into.merge(other);
    } else {
      into += other;
    }
  };
  context.parallel(groups, [&](Index group) {
    Acc acc = zero;
    const Index begin = group * blocks / groups;
    const Index end = (group + 1) * blocks / groups;
    for (Index b = begin; b < end; ++b) add(acc, b);
    std::size_t level = 0;
    auto node = static_cast<std::size_t>(group);
    for (;;) {
      if (level + 1 == tree.size()) {
        tree[level][node] = std::move(acc);
        return;
      }
      const std::size_t sibling = node ^ 1U;
      if (sibling < tree[level].size()) {
        std::optional<Acc> other;
        {
          const std::lock_guard lock(mutex);
          if (!tree[level][sibling]) {
            tree[level][node] = std::move(acc);
            return;
          }
          other = std::move(tree[level][sibling]);
          tree[level][sibling].reset();
        }
        if (node < sibling) {
          merge(acc, *other);
        } else {
          merge(*other, acc);
          acc = std::move(*other);
        }
      }
      ++level;
      node /= 2;
    }
  });
  return std::move(*tree.back()[0]);
}

}  // namespace ecotone
