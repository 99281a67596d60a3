#pragma once

#include "ecotone/linalg/matrix.h"

/// Shared by all code that computes squared distances from products: ||x - y||^2 = -2 x.y + ||x||^2 + ||y||^2.
namespace ecotone {

/// Whether a squared distance is so small relative to ||x||^2 + ||y||^2 that the product form has lost more than 4
/// digits, so that it must be computed from differences. Also true for NaN.
inline bool must_take_differences(double squared, double scale) { return !(squared > 1e-4 * scale); }

/// v(c) = v(c) + norm + norms(c); returns whether any entry must be computed from differences.
inline bool add_norms(double norm, const double* __restrict norms, double* __restrict values, Index count) {
  Index close = 0;
  for (Index c = 0; c < count; ++c) {
    const double scale = norm + norms[c];
    const double value = values[c] + scale;
    close += must_take_differences(value, scale) ? 1 : 0;
    values[c] = value;
  }
  return close > 0;
}

}  // namespace ecotone
