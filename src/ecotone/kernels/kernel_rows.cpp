#include "ecotone/kernels/kernel_rows.h"

#include <cmath>

namespace ecotone {
namespace {

[[gnu::always_inline]] inline void differences(double x, const double* __restrict z, double* __restrict sum,
                                               Index count) {
  for (Index c = 0; c < count; ++c) sum[c] += std::abs(x - z[c]);
}

void plain_differences(double x, const double* z, double* sum, Index count) { differences(x, z, sum, count); }

#if defined(__x86_64__)
[[gnu::target("avx2")]] void wide_differences(double x, const double* z, double* sum, Index count) {
  differences(x, z, sum, count);
}
#endif

using AddDifferences = void (*)(double, const double*, double*, Index);

AddDifferences differences_for_processor() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return wide_differences;
#endif
  return plain_differences;
}

}  // namespace

void add_differences(double x, const double* z, double* sum, Index count) {
  static const AddDifferences add = differences_for_processor();
  add(x, z, sum, count);
}

double power(double base, int degree) {
  double result = 1;
  for (; degree > 0; degree /= 2, base *= base)
    if (degree % 2 == 1) result *= base;
  return result;
}

}  // namespace ecotone
