#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

/// Derivatives as integers: sums of them are exact, so they are equal for any order of the rows, any number of threads
/// and however the rows are divided.
namespace ecotone {

/// An integer q, |q| <= 2^30, stands for q 2^(exponent - 30); 2^32 rows do not overflow a sum of them.
class FixedPoint {
 public:
  FixedPoint() : FixedPoint(0) {}
  /// With the least exponent for which all |values| up to `largest` are < 2^exponent.
  static FixedPoint of(double largest) {
    int exponent = 0;
    if (largest > 0) std::frexp(largest, &exponent);
    return FixedPoint(std::max(exponent, -900));  // so that the unit and its inverse are normal numbers
  }

  int exponent() const { return exponent_; }
  /// What one stands for, a power of two: multiplying by it, or by its inverse, is exact.
  double unit() const { return unit_; }
  /// Ties to even. Free of branches and calls, so that loops over it become vectors.
  [[gnu::always_inline]] std::int32_t encode(double value) const {
    constexpr double to_integer = 6755399441055744.0;  // 1.5 2^52: the sum has the integer in its low bits
    return static_cast<std::int32_t>(
        static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value * inverse_ + to_integer)));
  }
  double decode(std::int64_t sum) const { return static_cast<double>(sum) * unit_; }

 private:
  explicit FixedPoint(int exponent)
      : exponent_(exponent), unit_(std::ldexp(1.0, exponent - 30)), inverse_(std::ldexp(1.0, 30 - exponent)) {}

  int exponent_;
  double unit_, inverse_;
};

}  // namespace ecotone
