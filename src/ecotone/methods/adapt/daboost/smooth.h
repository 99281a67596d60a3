#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// The limit of F <- 0.95 P F + 0.05 y, where (P F)_i is the mean of F over the 5 nearest other rows of row i.
Vector smooth_over_neighbours(const Matrix& x, const Vector& y, const Context& context, const char* who);

/// The value of the nearest row of `rows` for every row of x.
Vector nearest_values(const Features& x, const Matrix& rows, const Vector& values, const Context& context,
                      const char* who);

}  // namespace ecotone
