#pragma once

#include <cstddef>

namespace ecotone {

/// Row, column and block numbers; signed, as in Eigen and the BLAS.
using Index = std::ptrdiff_t;

/// An index into a standard container, whose sizes are unsigned.
constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace ecotone
