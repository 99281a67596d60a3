#pragma once

#include "ecotone/base/context.h"
#include "ecotone/kernels/distribution_map.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Mean embeddings of domains in the coordinates of a low-rank map.
struct LowRankMeans {
  Vector rows;      ///< of each domain
  Matrix mean;      ///< a row per domain; 0 of one without rows
  Vector diagonal;  ///< mean of k(x, x); of the linear kernel seen from the origin
};

/// One pass over the rows: averages of rho(x), or of x - origin where the map is none (the linear kernel). Of landmarks
/// k(x, z_j) is averaged and L^-1 is applied to the averages alone. Data errors `non_finite`, `not_enough_memory`.
LowRankMeans low_rank_means(const LowRankMap& map, const Vector& origin, const DomainFeatures& rows,
                            const Context& context);

}  // namespace ecotone
