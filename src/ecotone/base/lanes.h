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

}  // namespace ecotone::lanes
