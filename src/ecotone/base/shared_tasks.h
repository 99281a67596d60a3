#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/files/archive.h"
#include "ecotone/base/index.h"

namespace ecotone {

/// Whether task i of share_tasks is this rank's.
inline bool is_own_task(Index i, const Context& context) {
  return !context.meets_ranks() || i % context.ranks().size() == context.ranks().rank();
}

/// Runs body(0) .. body(tasks - 1), each on one rank and on the threads of that (at most `at_most` at once, 0: all),
/// and gives their results to all ranks: `archive_of(i, with)` passes the result of task i through an archive, to bytes
/// where it was made and from bytes elsewhere. Inside a task, every rank runs all of them.
template <class Body, class ArchiveOf>
void share_tasks(Index tasks, const Context& context, int at_most, Body&& body, ArchiveOf&& archive_of) {
  if (!context.meets_ranks()) return context.parallel(tasks, body, at_most);
  Ranks& ranks = context.ranks();
  const int rank = ranks.rank(), size = ranks.size();
  // As is_own_task says.
  const auto count_of = [&](int r) { return (tasks - r + size - 1) / size; };
  context.parallel(
      count_of(rank), [&](Index k) { body(rank + k * size); }, at_most);
  ArchiveWriter writer;
  for (Index k = 0; k < count_of(rank); ++k) archive_of(rank + k * size, writer);
  const RankTexts texts = ranks.gather_shares("tasks", static_cast<std::uint64_t>(tasks), writer.text());
  for (int r = 0; r < size; ++r) {
    if (r == rank) continue;
    ArchiveReader reader(texts[static_cast<std::size_t>(r)]);
    for (Index k = 0; k < count_of(r); ++k) archive_of(r + k * size, reader);
  }
}

}  // namespace ecotone
