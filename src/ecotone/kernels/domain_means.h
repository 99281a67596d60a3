#pragma once

#include "ecotone/base/context.h"
#include "ecotone/kernels/distribution_map.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Mean embeddings of domains in the coordinates of a low-rank map.
struct LowRankMeans {
  Vector rows;      ///< number of rows of each domain
  Matrix mean;      ///< a row per domain; 0 for one without rows
  Vector diagonal;  ///< mean of k(x, x); for the linear kernel measured from the origin
};

/// One pass over the rows: averages of rho(x), or of x - origin if the map is empty (the linear kernel). With
/// landmarks, k(x, z_j) is averaged and L^-1 is applied only to the averages. Data errors `non_finite`,
/// `not_enough_memory`.
LowRankMeans low_rank_means(const LowRankMap& map, const Vector& origin, const DomainFeatures& rows,
                            const Context& context);

}  // namespace ecotone
