#include "ecotone/solve/rbm_kernel.h"

#include <bit>
#include <cstdint>

namespace ecotone {
namespace {

/// exp(x) for |x| <= 80: 2^k exp(r), |r| <= ln(2)/2, by its series.
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
  // The integer k stands in the low bits of `shifted`; moved to the exponent it is 2^k.
  return sum * std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) + 127U) << 23U);
}

[[gnu::always_inline]] inline void sigmoids(float* __restrict x, const float* __restrict bias, Index count) {
  for (Index i = 0; i < count; ++i) {
    float t = x[i] + bias[i];
    // Comparisons are false for what is not a number.
    t = t > 80.0F ? 80.0F : t;
    t = t < -80.0F ? -80.0F : t;
    x[i] = 1.0F / (1.0F + exp_of(-t));
  }
}

[[gnu::always_inline]] inline void move(float* __restrict velocity, float* __restrict w, float decay, Index count) {
  for (Index i = 0; i < count; ++i) {
    const float v = velocity[i] - decay * w[i];
    velocity[i] = v;
    w[i] += v;
  }
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void wide_sigmoids(float* x, const float* bias, Index count) { sigmoids(x, bias, count); }
[[gnu::target("avx2,fma")]] void wide_move(float* velocity, float* w, float decay, Index count) {
  move(velocity, w, decay, count);
}

bool is_wide() {
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return wide;
}
#endif

}  // namespace

void sigmoid_row(float* x, const float* bias, Index count) {
#if defined(__x86_64__)
  if (is_wide()) return wide_sigmoids(x, bias, count);
#endif
  sigmoids(x, bias, count);
}

void threshold_row(const float* draw, const float* p, float* to, Index count) {
  for (Index i = 0; i < count; ++i) to[i] = draw[i] < p[i] ? 1.0F : 0.0F;
}

void move_row(float* velocity, float* w, float decay, Index count) {
#if defined(__x86_64__)
  if (is_wide()) return wide_move(velocity, w, decay, count);
#endif
  move(velocity, w, decay, count);
}

}  // namespace ecotone
