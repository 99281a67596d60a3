#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// ||x_i - y_j||^2 for all rows of X and Y, through products of rows centred at their common mean, so that a large
/// common offset costs no digits. Pairs so near that the products would cancel are computed from differences: equal
/// rows have distance exactly 0. By fixed tiles on all threads.
Matrix squared_distances(ConstMatrixView x, ConstMatrixView y, const Context& context);

/// Of X with itself: symmetric to the bit, zero diagonal, half the work.
Matrix squared_distances(ConstMatrixView x, const Context& context);

}  // namespace ecotone
