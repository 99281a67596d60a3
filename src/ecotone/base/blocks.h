#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/files/archive.h"
#include "ecotone/base/index.h"

namespace ecotone {

/// Runs body(first, last) for pieces of the rows 0 .. rows-1, which depend on their number alone.
template <class Body>
void parallel_rows(Index rows, const Context& context, Body&& body) {
  constexpr Index rows_at_once = 4096;
  context.parallel((rows + rows_at_once - 1) / rows_at_once,
                   [&](Index piece) { body(piece * rows_at_once, std::min(rows, (piece + 1) * rows_at_once)); });
}

/// How many partial sums `sum_blocks` keeps; depends only on the number of blocks. Many blocks have more of them, so
/// that more than 32 ranks have a share of their own.
inline Index sum_groups(Index blocks) { return blocks < 4096 ? std::min<Index>(blocks, 32) : 256; }

/// The first block of a group of blocks.
inline Index group_begin(Index group, Index groups, Index blocks) { return group * blocks / groups; }

/// Partial sums of groups, merged along a fixed binary tree as soon as both children are there, with
/// `acc.merge(other)` or `acc += other`, so that the result does not depend on who comes when. Thread-safe.
template <class Acc>
class SumTree {
 public:
  explicit SumTree(Index groups) {
    // Node (level, i) covers groups [i 2^level, (i + 1) 2^level).
    for (Index width = groups;; width = (width + 1) / 2) {
      tree_.emplace_back(static_cast<std::size_t>(width));
      if (width == 1) break;
    }
  }

  void add(std::size_t level, std::size_t node, Acc acc) {
    for (;;) {
      if (level + 1 == tree_.size()) {
        tree_[level][node] = std::move(acc);
        return;
      }
      const std::size_t sibling = node ^ 1U;
      if (sibling < tree_[level].size()) {
        std::optional<Acc> other;
        {
          const std::lock_guard lock(mutex_);
          if (!tree_[level][sibling]) {
            tree_[level][node] = std::move(acc);
            return;
          }
          other = std::move(tree_[level][sibling]);
          tree_[level][sibling].reset();
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
  }

  /// Calls use(level, node, acc) for the sums that wait for others.
  template <class Use>
  void each(Use&& use) {
    for (std::size_t level = 0; level < tree_.size(); ++level)
      for (std::size_t node = 0; node < tree_[level].size(); ++node)
        if (tree_[level][node]) use(level, node, *tree_[level][node]);
  }

  /// The sum of all groups, once all were added.
  Acc result() { return std::move(*tree_.back()[0]); }

 private:
  static void merge(Acc& into, const Acc& other) {
    if constexpr (requires { into.merge(other); }) {
      into.merge(other);
    } else {
      into += other;
    }
  }

  std::mutex mutex_;
  std::vector<std::vector<std::optional<Acc>>> tree_;
};

/// Adds the groups [first, last) of blocks to the tree on all threads.
template <class Acc, class Add>
void add_groups(SumTree<Acc>& tree, Index first, Index last, Index groups, Index blocks, const Context& context,
                const Acc& zero, Add&& add) {
  context.parallel(last - first, [&](Index i) {
    const Index group = first + i;
    Acc acc = zero;
    const Index end = group_begin(group + 1, groups, blocks);
    for (Index b = group_begin(group, groups, blocks); b < end; ++b) add(acc, b);
    tree.add(0, static_cast<std::size_t>(group), std::move(acc));
  });
}

/// Sums over blocks 0 .. blocks-1 on all threads, in an order that depends only on the number of blocks.
///
/// `add(acc, b)` adds block b to an accumulator that started as a copy of `zero`. Blocks form contiguous groups, each
/// added in order; groups are merged along a fixed tree. The result is therefore identical to the byte for any number
/// of threads, and about threads + 5 accumulators are alive at once.
template <class Acc, class Add>
Acc sum_blocks(Index blocks, const Context& context, Acc zero, Add&& add) {
  const Index groups = sum_groups(blocks);
  if (groups == 0) return zero;
  SumTree<Acc> tree(groups);
  add_groups(tree, 0, groups, groups, blocks, context, zero, add);
  return tree.result();
}

/// A share of something that is numbered: [first, last).
struct Share {
  Index first = 0;
  Index last = 0;
};

/// The groups of blocks that a rank sums.
inline Share groups_of_rank(Index groups, int rank, int ranks) {
  return {rank * groups / ranks, (rank + 1) * groups / ranks};
}

/// The blocks of rows that a rank reads in `sum_rows`.
inline Share blocks_of_rank(Index blocks, int rank, int ranks) {
  const Index groups = sum_groups(blocks);
  if (groups == 0) return {};
  const Share own = groups_of_rank(groups, rank, ranks);
  return {group_begin(own.first, groups, blocks), group_begin(own.last, groups, blocks)};
}

/// `sum_blocks` over blocks of rows, shared by all ranks: each sums its groups of blocks, and all receive the result,
/// which is that of one rank to the byte. The accumulator must be one that an archive knows (files/archive.h), with the
/// shapes of `zero`. What `add` does to anything else is done for the blocks of this rank alone: see `share_rows`.
template <class Acc, class Add>
Acc sum_rows(Index blocks, const Context& context, Acc zero, Add&& add) {
  if (!context.meets_ranks()) return sum_blocks(blocks, context, std::move(zero), add);
  const Index groups = sum_groups(blocks);
  if (groups == 0) return zero;
  Ranks& ranks = context.ranks();
  SumTree<Acc> tree(groups);
  const Share own = groups_of_rank(groups, ranks.rank(), ranks.size());
  add_groups(tree, own.first, own.last, groups, blocks, context, zero, add);
  ArchiveWriter writer;
  tree.each([&](std::size_t level, std::size_t node, Acc& acc) { writer(level, node, acc); });
  const RankTexts texts = ranks.gather_sums(fmt::format("sums of {} bytes over blocks", archived_size(zero)),
                                            static_cast<std::uint64_t>(blocks), writer.text());
  for (int r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    ArchiveReader reader(texts[static_cast<std::size_t>(r)]);
    while (!reader.at_end()) {
      std::size_t level = 0, node = 0;
      Acc acc = zero;
      reader(level, node, acc);
      tree.add(level, node, std::move(acc));
    }
  }
  return tree.result();
}

/// Runs body(b) for the blocks of rows that are this rank's share (of one rank: all), on all threads.
template <class Body>
void each_row_block(Index blocks, const Context& context, Body&& body) {
  const Share own =
      context.meets_ranks() ? blocks_of_rank(blocks, context.ranks().rank(), context.ranks().size()) : Share{0, blocks};
  context.parallel(own.last - own.first, [&](Index i) { body(own.first + i); });
}

/// Gives all ranks the values of all rows, of which each has computed those of its own blocks. `first_row(b)` is the
/// first row of block b, and that of `blocks` the number of rows; the values of a row are next to each other.
template <class Value, class FirstRow>
void share_rows(Index blocks, const Context& context, Value* values, Index per_row, FirstRow&& first_row) {
  if (!context.meets_ranks()) return;
  Ranks& ranks = context.ranks();
  std::vector<std::size_t> end;  // bytes
  for (int r = 0; r < ranks.size(); ++r)
    end.push_back(at(first_row(blocks_of_rank(blocks, r, ranks.size()).last) * per_row) * sizeof(Value));
  ranks.share("values of rows", static_cast<std::uint64_t>(blocks), {reinterpret_cast<char*>(values), end.back()}, end);
}

}  // namespace ecotone
