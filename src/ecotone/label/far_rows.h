#pragma once

#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/query/strategy.h"

namespace ecotone {

/// How far the rows of a pool are from all that is labelled, which is what exploring draws by (pick.h): a region
/// without a label is found sooner than by chance. Distances are those of columns in standard deviations of the pool,
/// at most 3 from its mean, where missing values are too; of more than 32 columns, those along 32 random directions.
/// Each label costs one pass over the pool.
class FarRows {
 public:
  /// Refuses what does not fit in memory.
  FarRows(const Dataset& data, std::vector<Index> pool, const Context& context);

  /// The squared distance of each of `rows`, which are of the pool and ascend, from the nearest of `labelled`. Of
  /// labelled rows beside the pool at most 256 are looked at, at equal distances. No labelled row: all 1.
  Vector squared(std::span<const Index> rows, std::span<const Index> labelled);

 private:
  const Dataset& data_;
  std::vector<Index> pool_;    ///< ascending
  Vector mean_;                ///< of each column
  Vector scale_;               ///< 1 / sd; 0 for a constant column
  Matrix directions_;          ///< columns x directions; empty: the columns themselves
  Matrix place_;               ///< of each row of the pool
  Vector nearest_;             ///< squared distance of each row of the pool from those that are `counted_`
  std::vector<char> counted_;  ///< of each row of the data

  void set_scale(const Features& x);
  Matrix places(const Features& x) const;
  void count_near(const Matrix& labelled);
};

/// Whether a strategy draws rows at random beside those that it ranks.
bool explores(const Strategy& strategy);

}  // namespace ecotone
