#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A bandwidth for a kernel of distances, and how it was found.
struct Bandwidth {
  double sigma = 1;
  Index rows = 0;         ///< rows whose pairwise distances were used
  bool fallback = false;  ///< the median was 0, so sigma is a substitute
};

/// The median heuristic: sigma = median of the Euclidean distances between all pairs of rows, from at most 1,000 rows
/// drawn with the context's seed. If more than half of the distances are 0 (few distinct rows), the median of the
/// positive ones; 1 if there are none.
Bandwidth median_bandwidth(ConstMatrixView x, const Context& context);
/// The same for features, of which only the sampled rows are read. Data error `non_finite`.
Bandwidth median_bandwidth(const Features& x, const Context& context);
/// The same for the distances that a kernel uses: for the laplacian kernel the sum of absolute differences, |x - z|_1.
Bandwidth median_bandwidth(const Features& x, KernelKind kind, const Context& context);

}  // namespace ecotone
