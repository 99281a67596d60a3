#pragma once

#include <cstdint>
#include <cstring>

/// Vectors of four numbers for the loops of boosting. Internal to solve/.
namespace ecotone::lanes {

using Four = double __attribute__((vector_size(32)));
using Mask = std::int64_t __attribute__((vector_size(32)));

[[gnu::always_inline]] inline void load(const double* from, Four& to) { std::memcpy(&to, from, sizeof(Four)); }
[[gnu::always_inline]] inline void store(const Four& from, double* to) { std::memcpy(to, &from, sizeof(Four)); }

}  // namespace ecotone::lanes
