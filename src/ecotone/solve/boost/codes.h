#pragma once

#include <cstdint>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/solve/boost/boost.h"

/// Values as bin numbers, one byte each. Internal to solve/.
namespace ecotone {

constexpr int boost_bin_count = 256;

/// The bins of one attribute: value x is in bin c if c edges are below it, so x > edge[k] means c > k.
struct BinEdges {
  std::vector<double> edge;    ///< ascending, at most 255
  std::vector<double> middle;  ///< middle of each bin; one more than edges
  double low = 0, high = 0;    ///< range of the attribute over both domains
};

/// Edges of all attributes, from one pass over the rows of both domains (two for quantiles).
std::vector<BinEdges> bin_edges(const Features& source, const Features& target, BoostBins kind, const Context& context);

/// Bins of all values, column by column: rows without the label go to `plain`, rows with it to `marked`, both in row
/// order. Without labels: all go to `plain`.
void bin_codes(const Features& x, const std::vector<BinEdges>& edges, const std::vector<bool>& label,
               std::vector<std::uint8_t>& plain, std::vector<std::uint8_t>& marked, const Context& context);

}  // namespace ecotone
