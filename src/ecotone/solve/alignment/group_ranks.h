#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// The distribution of each column over the rows of one group: its sorted values, or 1,024 quantiles of many rows.
/// Distributions of sorted values can be merged; quantiles are approximate.
struct GroupRanks {
  /// Groups with more rows are kept as quantiles.
  static constexpr Index most_exact = 10000;
  static constexpr Index quantiles = 1024;

  Index rows = 0;  ///< that it was made from
  Matrix sorted;   ///< a column of values or quantiles for each feature; column j of the features is row j

  bool exact() const { return sorted.cols() == rows; }
  /// The mid-distribution (#{< x} + #{= x} / 2) / n of a value of column j; between quantiles by interpolation.
  double share_below(Index j, double x) const;
};

/// The distributions of groups 0 .. groups - 1; rows of a negative group are left out. Memory is checked.
std::vector<GroupRanks> group_ranks(const Features& x, std::span<const std::int32_t> group, Index groups,
                                    const char* who, const Context& context);

/// The mean over groups of share_below: each group once.
double mean_share_below(const std::vector<GroupRanks>& groups, Index j, double x);

/// (n F + k F0) / (n + k), clipped to [1 / (2 (n + k)), 1 - 1 / (2 (n + k))].
double shrunk_share(double own, double mean, double rows, double k);
/// Phi^-1(share).
double normal_score(double share);

}  // namespace ecotone
