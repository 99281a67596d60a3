#pragma once

#include <optional>

#include "ecotone/linalg/matrix.h"

/// Systems of a few dozen unknowns, solved on the calling thread.
namespace ecotone {

/// A^-1 B for a symmetric A. Empty unless A is positive definite: all pivots above `tolerance` times the largest.
std::optional<Matrix> solve_definite(const Matrix& a, const Matrix& b, double tolerance = 0);
/// A^-1 B for a square A that is not singular.
Matrix solve_square(const Matrix& a, const Matrix& b);
/// Descending.
Vector singular_values(const Matrix& a);

}  // namespace ecotone
