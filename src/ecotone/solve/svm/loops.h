#pragma once

#include "ecotone/base/index.h"

/// The inner loops of the support vector machine, vectorised over contiguous arrays. The results of the first two do
/// not depend on the processor, except for fused products and sums.
namespace ecotone {

/// Sizes of the arrays of `step_and_scan` and `best_partner` are multiples of this.
constexpr Index svm_lanes = 8;

/// Where u + up is largest, and the extremes of both sides.
struct SvmScan {
  double top = 0;     ///< max of u + up
  Index at = 0;       ///< the first k that attains it
  double bottom = 0;  ///< min of u + down
};

/// u -= t (k_i - k_j), and the scan of the new u. `up` is minus infinity if a coefficient cannot rise, `down` plus
/// infinity if it cannot fall.
SvmScan step_and_scan(double t, const double* k_i, const double* k_j, const double* up, const double* down, double* u,
                      Index count);

/// The k with u_k + down_k < top that maximises (top - u_k - down_k)^2 / max(d_i + d_k - 2 k_ik, tiny): the largest
/// second-order decrease (fan2005). -1 if there is none.
Index best_partner(double top, double d_i, const double* k_i, const double* diagonal, const double* down,
                   const double* u, Index count);

/// u_c -= sum_r factor_r rows_r[first + c], c < count.
void subtract_rows(const float* const* rows, const double* factor, Index size, Index first, Index count, double* u);
void subtract_rows(const double* const* rows, const double* factor, Index size, Index first, Index count, double* u);

/// v_c <- exp(-scale max(norm + norms_c - 2 v_c, 0)); exponents beyond 87 count as 87, so that the values are
/// representable in single precision.
void gaussian_values(double norm, const double* norms, double scale, double* values, Index count);

}  // namespace ecotone
