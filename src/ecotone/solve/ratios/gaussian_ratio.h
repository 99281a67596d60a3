#pragma once

#include <optional>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

struct GaussianRatioOptions {
  /// Part of the mean variance that takes the place of each covariance matrix, of columns of variance 1; none: for each
  /// sample what suits a Gaussian sample of its size (oracle approximating shrinkage).
  std::optional<double> shrink;
  const char* who = "weight.gaussian";
};

/// ln N(h; mean_T, cov_T) - ln N(h; mean_S, cov_S), (59.89), at the first `sources` rows of x; the other rows are the
/// target. Covariances are of 1 / (rows - 1). Data errors: `empty_data` when a sample has no row, `non_finite`,
/// `singular_covariance`.
Vector gaussian_log_ratio(const Features& x, Index sources, const GaussianRatioOptions& options,
                          const Context& context);

}  // namespace ecotone
