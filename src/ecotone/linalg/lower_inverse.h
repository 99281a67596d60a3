#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// L^-1 of a lower triangular matrix by strips of 256 columns on all threads, n^3/3 operations; zero above the
/// diagonal. The same bytes for any number of threads. The diagonal must not be 0.
Matrix lower_inverse(const Matrix& lower, const Context& context);

}  // namespace ecotone
