#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A bandwidth of a kernel of distances and how it was found.
struct Bandwidth {
  double sigma = 1;
  Index rows = 0;         ///< rows whose pairwise distances were looked at
  bool fallback = false;  ///< the median was 0, so sigma is something else
};

/// The median heuristic: sigma = median of the Euclidean distances between all pairs of rows, of at most 1,000 rows
/// drawn by the context's seed. When more than half of the distances are 0 (few distinct rows), the median of the
/// positive ones; 1 when there is none.
Bandwidth median_bandwidth(ConstMatrixView x, const Context& context);
/// The same of features, of which only the sampled rows are read; data error `non_finite`.
Bandwidth median_bandwidth(const Features& x, const Context& context);
/// The same of the distances that a kernel reads: the laplacian kernel those of absolute differences, |x - z|_1.
Bandwidth median_bandwidth(const Features& x, KernelKind kind, const Context& context);

}  // namespace ecotone
