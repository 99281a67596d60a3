#pragma once

#include <limits>

namespace ecotone {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace ecotone
