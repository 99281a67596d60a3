#pragma once

#include <cstddef>

namespace ecotone {

/// Row, column and block numbers everywhere; signed, as Eigen's and the BLAS's.
using Index = std::ptrdiff_t;

}  // namespace ecotone
