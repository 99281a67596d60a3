#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// How a source row is treated whose neighbours all belong to one sample.
enum class ZeroCount {
  smooth,  ///< the prior is added to both counts: no weight is 0 or infinite
  cap      ///< at least half a source neighbour; a row without target neighbours has weight 0
};

struct KnnRatioOptions {
  Index k = 15;
  ZeroCount zero = ZeroCount::smooth;
  bool include_self = false;  ///< a source row counts as one of its own neighbours
  const char* who = "weight.knn";
};

/// Weights (59.63) of the first `sources` rows of x towards the others, from the k nearest of all rows: with N+ source
/// and N- target neighbours, pS = NS / (NS + NT) and pT = 1 - pS,
///   smooth: NS/NT (N- + pT) / (N+ + pS),   cap: NS/NT N- / max(N+, 1/2).
/// Data errors: `empty_data` if a sample has no rows, `bad_k` if k is not less than the number of rows.
Vector knn_ratio(const Features& x, Index sources, const KnnRatioOptions& options, const Context& context);

}  // namespace ecotone
