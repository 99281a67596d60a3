#pragma once

#include "ecotone/linalg/matrix.h"

/// Loops over a row of kernel values that all who compute kernels share.
namespace ecotone {

/// sum(c) += |x - z(c)|, as wide as the processor allows; the same bytes on all.
void add_differences(double x, const double* z, double* sum, Index count);

/// base^degree, degree not negative.
double power(double base, int degree);

}  // namespace ecotone
