#include "ecotone/linalg/exponential.h"

#include "ecotone/base/simd.h"

namespace ecotone {
namespace {

[[gnu::always_inline]] inline void all_exponentials(double scale, double* __restrict values, Index count) {
  for (Index i = 0; i < count; ++i) {
    const double x = scale * values[i];
    // NaN stays NaN: the comparison is false for it.
    values[i] = exp_of(x > 708.0 ? -708.0 : -x);
  }
}

}  // namespace

void exp_of_negative(double scale, double* values, Index count) { run_wide<all_exponentials>(scale, values, count); }

}  // namespace ecotone
