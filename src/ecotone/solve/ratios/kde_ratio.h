#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

struct KdeRatioOptions {
  bool skip_self = true;  ///< a source row is left out of the source density at itself
  const char* who = "weight.kde";
};

/// ln p_T - ln p_S at the first `sources` rows of x: densities by products of Gaussian kernels of width
/// sd_j n^(-1/(d + 4)) on each side. Columns that are constant on a side are left out. Data errors: `empty_data`,
/// `too_few_rows` if a side has one row, `too_many_columns` beyond 10, `too_many_rows` beyond 20,000
/// on a side.
Vector kde_log_ratio(const Features& x, Index sources, const KdeRatioOptions& options, const Context& context);

}  // namespace ecotone
