#pragma once

#include "ecotone/kernels/distribution_map.h"
#include "ecotone/kernels/low_rank.h"

/// Training rows that kernel maps hold; see Fitted::training_rows.
namespace ecotone {

/// Landmarks are rows; Fourier features hold none.
inline Index held_rows(const LowRankMap& map) { return map.fourier() ? 0 : map.rank(); }

/// Landmarks of the rows and of the domains' means. The map of domains holds coordinates of domains, no rows.
inline Index held_rows(const DistributionMap& map) {
  return held_rows(map.parts().means) + held_rows(map.parts().rows);
}

}  // namespace ecotone
