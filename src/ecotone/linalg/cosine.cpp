#include "ecotone/linalg/cosine.h"

#include "ecotone/base/simd.h"

namespace ecotone {
namespace {

/// cos(2 pi v) = 1 - 2 sin^2(pi f), f = v minus the nearest integer, |f| <= 1/2; the sine by its series.
[[gnu::always_inline]] inline double cos_of_turn(double v) {
  constexpr double to_integer = 6755399441055744.0;  // 1.5 2^52: adding it rounds to an integer
  const double f = v - ((v + to_integer) - to_integer);
  const double t = 3.14159265358979323846 * f;
  const double s = t * t;
  double sum = 1.0 / 51090942171709440000.0;  // 1 / 21!
  sum = sum * s - 1.0 / 121645100408832000.0;
  sum = sum * s + 1.0 / 355687428096000.0;
  sum = sum * s - 1.0 / 1307674368000.0;
  sum = sum * s + 1.0 / 6227020800.0;
  sum = sum * s - 1.0 / 39916800.0;
  sum = sum * s + 1.0 / 362880.0;
  sum = sum * s - 1.0 / 5040.0;
  sum = sum * s + 1.0 / 120.0;
  sum = sum * s - 1.0 / 6.0;
  const double sine = t + t * s * sum;
  return 1.0 - 2.0 * sine * sine;
}

[[gnu::always_inline]] inline void all_cosines(double scale, double* __restrict values, Index count) {
  for (Index i = 0; i < count; ++i) values[i] = scale * cos_of_turn(values[i]);
}

}  // namespace

void cos_of_turns(double scale, double* values, Index count) { run_wide<all_cosines>(scale, values, count); }

}  // namespace ecotone
