#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "ecotone/base/json.h"

namespace ecotone {

/// A number, or null if it is absent or not finite.
inline Json json_number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

/// The same of each number of a list.
inline Json json_numbers(const std::vector<double>& list) {
  Json result = Json::array();
  for (const double value : list) result.push_back(json_number(value));
  return result;
}

/// A number that may be infinite ("inf", "-inf") or undefined (null), neither of which JSON can express.
inline Json json_or_word(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

inline Json json_or_words(const std::vector<double>& list) {
  Json result = Json::array();
  for (const double value : list) result.push_back(json_or_word(value));
  return result;
}

}  // namespace ecotone
