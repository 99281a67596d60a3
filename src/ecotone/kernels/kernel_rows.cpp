#include "ecotone/kernels/kernel_rows.h"

#include <cmath>

#include "ecotone/base/simd.h"

namespace ecotone {
namespace {

[[gnu::always_inline]] inline void differences(double x, const double* __restrict z, double* __restrict sum,
                                               Index count) {
  for (Index c = 0; c < count; ++c) sum[c] += std::abs(x - z[c]);
}

}  // namespace

void add_differences(double x, const double* z, double* sum, Index count) {
  run_wide_exactly<differences>(x, z, sum, count);
}

double power(double base, int degree) {
  double result = 1;
  for (; degree > 0; degree /= 2, base *= base)
    if (degree % 2 == 1) result *= base;
  return result;
}

}  // namespace ecotone
