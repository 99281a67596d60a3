#include "ecotone/solve/rbm/rbm_kernel.h"

#include "ecotone/base/simd.h"
#include "ecotone/linalg/exponential.h"

namespace ecotone {
namespace {

[[gnu::always_inline]] inline void sigmoids(float* __restrict x, const float* __restrict bias, Index count) {
  for (Index i = 0; i < count; ++i) {
    float t = x[i] + bias[i];
    // Comparisons are false for NaN.
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

}  // namespace

void sigmoid_row(float* x, const float* bias, Index count) { run_wide<sigmoids>(x, bias, count); }

void threshold_row(const float* draw, const float* p, float* to, Index count) {
  for (Index i = 0; i < count; ++i) to[i] = draw[i] < p[i] ? 1.0F : 0.0F;
}

void move_row(float* velocity, float* w, float decay, Index count) { run_wide<move>(velocity, w, decay, count); }

}  // namespace ecotone
