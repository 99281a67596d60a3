#pragma once

#include "ecotone/base/simd.h"

namespace ecotone {

/// Billions of multiplications and additions per second on one thread, in double precision, each measured for about a
/// tenth of a second.
struct ProductSpeed {
  double product = 0;  ///< of a product of two matrices
  double peak = 0;     ///< of the processor's widest instructions on values in registers
};
ProductSpeed measure_product_speed();

}  // namespace ecotone
