#pragma once

#include <optional>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

struct GaussianRatioOptions {
  /// Share of each covariance matrix, for columns of variance 1, that is replaced by the mean variance; none: for each
  /// sample the share that suits a Gaussian sample of its size (oracle approximating shrinkage).
  std::optional<double> shrink;
  const char* who = "weight.gaussian";
};

/// ln N(h; mean_T, cov_T) - ln N(h; mean_S, cov_S), (59.89), at the first `sources` rows of x; the other rows are the
/// target. Covariances have the divisor rows - 1. Data errors: `empty_data` if a sample has no rows, `non_finite`,
/// `singular_covariance`.
Vector gaussian_log_ratio(const Features& x, Index sources, const GaussianRatioOptions& options,
                          const Context& context);

}  // namespace ecotone
