#pragma once

#include "ecotone/base/index.h"

namespace ecotone {

/// x = 1 / (1 + exp(-(x + bias))) for each entry, to about 3e-7 of its size; sums beyond +-80 count as +-80 and one
/// that is not a number stays so. Uses the widest vectors that this processor has; a result does not depend on where in
/// a call its entry stands.
void sigmoid_row(float* x, const float* bias, Index count);

/// to = 1 where draw < p, else 0.
void threshold_row(const float* draw, const float* p, float* to, Index count);

/// velocity -= decay w, then w += velocity.
void move_row(float* velocity, float* w, float decay, Index count);

}  // namespace ecotone
