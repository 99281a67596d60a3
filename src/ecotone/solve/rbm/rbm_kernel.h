#pragma once

#include "ecotone/base/index.h"

namespace ecotone {

/// x = 1 / (1 + exp(-(x + bias))) for each entry, with a relative error of about 3e-7; sums beyond +-80 count as +-80,
/// and NaN stays NaN. Uses the widest vectors of the processor; results do not depend on the position of an entry in a
/// call.
void sigmoid_row(float* x, const float* bias, Index count);

/// to = 1 where draw < p, else 0.
void threshold_row(const float* draw, const float* p, float* to, Index count);

/// velocity -= decay w, then w += velocity.
void move_row(float* velocity, float* w, float decay, Index count);

}  // namespace ecotone
