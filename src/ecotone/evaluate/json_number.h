#pragma once

#include <cmath>
#include <optional>

#include "ecotone/base/json.h"

namespace ecotone {

/// A number, or null where there is none or it is not finite.
inline Json json_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

}  // namespace ecotone
