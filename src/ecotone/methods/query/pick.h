#pragma once

#include <string_view>
#include <vector>

#include "ecotone/base/random.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/methods/query/strategy.h"

namespace ecotone {

/// Why a row is asked.
enum class Why {
  seed,       ///< nothing is labelled yet, or not every class
  uncertain,  ///< the strategy ranks it first
  explore,    ///< at random, far from what is labelled rather than near, and learned from
  audit       ///< at random, to measure by; not learned from until the end
};
/// "seed", "uncertain", "explore", "audit".
std::string_view why_name(Why why);
/// By its name; false if there is none.
bool read_why(std::string_view name, Why& why);

/// A row to ask.
struct Query {
  Index place = 0;  ///< in the pool
  Why why = Why::uncertain;
  double probability = 1;  ///< that this row was asked now, given what was asked before
};

/// The rows that may be asked.
struct QueryPool {
  ConstVectorView score;           ///< of each row: the larger, the sooner it is asked
  ConstMatrixView coordinates;     ///< of each row, for distances within a batch; no columns: none are kept apart
  ConstVectorView far = Vector();  ///< squared distance of each row from all that is labelled; empty: not known
};

/// Picks `count` different rows (fewer if the pool is smaller): each at random with probability `explore` (half of
/// these evenly, half in proportion to `far`, so that regions without a label are found soon), otherwise the one of
/// highest score, at equal scores the one of smallest index, that is not too near to a row of the same batch. If all
/// that are left are too near, the nearest rule is dropped.
std::vector<Query> pick(const QueryPool& pool, const Strategy& strategy, Index count, Random& random);

/// `count` rows at random, from every domain in proportion to its rows (the largest remainders get the rows left over).
/// `domain` has the number of each row's domain.
std::vector<Query> pick_seed(std::span<const std::int32_t> domain, Index count, Random& random);

}  // namespace ecotone
