#pragma once

#include <cstddef>

namespace ecotone {

/// Row, column and block numbers everywhere; signed, as Eigen's and the BLAS's.
using Index = std::ptrdiff_t;

/// An index of a standard container, whose sizes have no sign.
constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace ecotone
