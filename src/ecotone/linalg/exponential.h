#pragma once

#include <bit>
#include <cstdint>

#include "ecotone/base/index.h"

namespace ecotone {

/// exp(x) for -708 <= x <= 0 with a relative error of about 1e-15: 2^k exp(r), |r| <= ln(2)/2, by its series. Free of
/// branches, so that compilers vectorise loops over it.
[[gnu::always_inline]] inline double exp_of(double x) {
  constexpr double to_integer = 6755399441055744.0;  // 1.5 2^52: adding it rounds to an integer
  const double shifted = x * 1.4426950408889634 + to_integer;
  const double k = shifted - to_integer;
  const double r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  // The integer k is in the low bits of `shifted`; moved to the exponent it is 2^k.
  const auto power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
  return sum * power;
}

/// exp(x) for |x| <= 80: 2^k exp(r), |r| <= ln(2)/2, by its series; in single precision.
[[gnu::always_inline]] inline float exp_of(float x) {
  constexpr float to_integer = 12582912.0F;  // 1.5 2^23: adding it rounds to an integer
  const float shifted = x * 1.44269504F + to_integer;
  const float k = shifted - to_integer;
  const float r = (x - k * 0.693359375F) + k * 2.12194440e-4F;
  float sum = 1.0F / 5040.0F;
  sum = sum * r + 1.0F / 720.0F;
  sum = sum * r + 1.0F / 120.0F;
  sum = sum * r + 1.0F / 24.0F;
  sum = sum * r + 1.0F / 6.0F;
  sum = sum * r + 0.5F;
  sum = sum * r + 1.0F;
  sum = sum * r + 1.0F;
  // The integer k is in the low bits of `shifted`; moved to the exponent it is 2^k.
  return sum * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
}

/// v_i <- exp(-scale v_i) for scale >= 0 and v_i >= 0; exponents beyond 708 count as 708, exp(0) is exactly 1, NaN
/// stays NaN. Uses the widest vectors of the processor; results do not depend on how the values are split into calls.
void exp_of_negative(double scale, double* values, Index count);

}  // namespace ecotone
