#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// L^-1 for a lower triangular matrix by strips of 256 columns on all threads, n^3/3 operations; zero above the
/// diagonal. The bytes of the result do not depend on the number of threads. The diagonal must not contain 0.
Matrix lower_inverse(const Matrix& lower, const Context& context);

}  // namespace ecotone
