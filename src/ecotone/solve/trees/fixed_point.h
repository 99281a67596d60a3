#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

/// Derivatives as integers: sums of them are exact, so they are equal for any order of the rows, any number of threads
/// and however the rows are divided.
namespace ecotone {

/// An integer q, |q| <= 2^30, stands for q 2^(exponent - 30).
struct FixedPoint {
  int exponent = 0;  ///< the least with all |values| < 2^exponent

  static FixedPoint of(double largest) {
    FixedPoint scale;
    if (largest > 0) std::frexp(largest, &scale.exponent);
    scale.exponent = std::max(scale.exponent, -900);  // so that units and their inverses are normal numbers
    return scale;
  }
  std::int32_t encode(double value) const {
    return static_cast<std::int32_t>(std::nearbyint(std::ldexp(value, 30 - exponent)));
  }
  /// What one stands for; 2^32 rows do not overflow a sum.
  double unit() const { return std::ldexp(1.0, exponent - 30); }
  double decode(std::int64_t sum) const { return static_cast<double>(sum) * unit(); }
};

}  // namespace ecotone
