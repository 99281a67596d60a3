#pragma once

#include <cstdint>
#include <cstring>

/// Vectors of two, four and eight values for hand-written loops; simd.h runs them.
namespace ecotone::lanes {

using Two = double __attribute__((vector_size(16)));
using Four = double __attribute__((vector_size(32)));
using Eight = double __attribute__((vector_size(64)));
using Mask = std::int64_t __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load(const double* from, Four& to) { std::memcpy(&to, from, sizeof(Four)); }
[[gnu::always_inline]] inline void store(const Four& from, double* to) { std::memcpy(to, &from, sizeof(Four)); }
[[gnu::always_inline]] inline Four all(double value) { return Four{value, value, value, value}; }

/// sum += a b, rounded once if `fused`, which needs FMA instructions, otherwise twice. An expression would leave the
/// choice to the compiler, which may make another one in a loop over several rows than in the loop over the last ones.
template <bool fused>
[[gnu::always_inline]] inline void add_product(double a, double b, double& sum) {
  if constexpr (fused) {
    sum = __builtin_fma(a, b, sum);
  } else {
    sum += a * b;
  }
}
/// The same for each lane.
template <bool fused, class V>
[[gnu::always_inline]] inline void add_product(const V& a, const V& b, V& sum) {
  if constexpr (fused) {
    V result;
    for (unsigned k = 0; k < sizeof(V) / sizeof(double); ++k) result[k] = __builtin_fma(a[k], b[k], sum[k]);
    sum = result;
  } else {
    sum += a * b;
  }
}
template <bool fused, class V>
[[gnu::always_inline]] inline void add_product(double a, const V& b, V& sum) {
  if constexpr (fused) {
    V result;
    for (unsigned k = 0; k < sizeof(V) / sizeof(double); ++k) result[k] = __builtin_fma(a, b[k], sum[k]);
    sum = result;
  } else {
    sum += a * b;
  }
}

}  // namespace ecotone::lanes
