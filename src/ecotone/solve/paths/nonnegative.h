#pragma once

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// The w >= 0 that minimises w'Gw - 2 b'w for a positive semidefinite G, by the active set method of Lawson and Hanson.
/// For small systems.
Vector nonnegative_least_squares(const Matrix& gram, const Vector& target);

}  // namespace ecotone
