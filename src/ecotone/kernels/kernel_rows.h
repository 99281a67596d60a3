#pragma once

#include "ecotone/linalg/matrix.h"

/// Loops over a row of kernel values, shared by all kernel computations.
namespace ecotone {

/// sum(c) += |x - z(c)|, with the widest vectors of the processor; the same bytes on all processors.
void add_differences(double x, const double* z, double* sum, Index count);

/// base^degree, degree >= 0.
double power(double base, int degree);

}  // namespace ecotone
