#include "ecotone/solve/linear/logistic_kernel.h"

#include <cmath>

#include "ecotone/base/simd.h"
#include "ecotone/linalg/exponential.h"

namespace ecotone {
namespace {

/// ln(1 + e) = 2 artanh(e / (2 + e)) for 0 <= e <= 1: no digits are lost for small e.
[[gnu::always_inline]] inline double log_one_plus(double e) {
  const double f = e / (2.0 + e);
  const double q = f * f;
  double sum = 1.0 / 33.0;
  sum = sum * q + 1.0 / 31.0;
  sum = sum * q + 1.0 / 29.0;
  sum = sum * q + 1.0 / 27.0;
  sum = sum * q + 1.0 / 25.0;
  sum = sum * q + 1.0 / 23.0;
  sum = sum * q + 1.0 / 21.0;
  sum = sum * q + 1.0 / 19.0;
  sum = sum * q + 1.0 / 17.0;
  sum = sum * q + 1.0 / 15.0;
  sum = sum * q + 1.0 / 13.0;
  sum = sum * q + 1.0 / 11.0;
  sum = sum * q + 1.0 / 9.0;
  sum = sum * q + 1.0 / 7.0;
  sum = sum * q + 1.0 / 5.0;
  sum = sum * q + 1.0 / 3.0;
  sum = sum * q + 1.0;
  return 2.0 * f * sum;
}

[[gnu::always_inline]] inline void logistic_loop(const std::int32_t* __restrict cls, const double* __restrict score,
                                                 double* __restrict margin, double* __restrict loss,
                                                 double* __restrict slope, double* __restrict curvature, Index count) {
  for (Index i = 0; i < count; ++i) {
    const double y = 2.0 * static_cast<double>(cls[i]) - 1.0;
    const double m = y * score[i];
    const double size = std::abs(m);
    // NaN stays NaN: the comparison is false for it.
    const double e = exp_of(size > 708.0 ? -708.0 : -size);
    const double part = 1.0 / (1.0 + e);
    // ln(1 + exp(-m)) = ln(1 + exp(-|m|)) + max(-m, 0)
    margin[i] = m;
    loss[i] = log_one_plus(e) + (m < 0.0 ? -m : 0.0);
    // d loss / dm = -1 / (1 + exp(m)), d2 = exp(-|m|) / (1 + exp(-|m|))^2
    slope[i] = -y * (m < 0.0 ? part : e * part);
    curvature[i] = e * part * part;
  }
}

}  // namespace

void logistic_rows(const LogisticRows& r, Index count) {
  run_wide<logistic_loop>(r.cls, r.score, r.margin, r.loss, r.slope, r.curvature, count);
}

}  // namespace ecotone
