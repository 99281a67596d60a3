#include "ecotone/linalg/exponential.h"

namespace ecotone {
namespace {

[[gnu::always_inline]] inline void all_values(double scale, double* __restrict values, Index count) {
  for (Index i = 0; i < count; ++i) {
    const double x = scale * values[i];
    // What is not a number stays one: the comparison is false for it.
    values[i] = exp_of(x > 708.0 ? -708.0 : -x);
  }
}

void plain_values(double scale, double* values, Index count) { all_values(scale, values, count); }

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void wide_values(double scale, double* values, Index count) {
  all_values(scale, values, count);
}
#endif

}  // namespace

void exp_of_negative(double scale, double* values, Index count) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide) return wide_values(scale, values, count);
#endif
  plain_values(scale, values, count);
}

}  // namespace ecotone
