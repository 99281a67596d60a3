#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ecotone/base/index.h"

namespace ecotone {

inline constexpr int most_tree_bins = 255;
inline constexpr std::uint8_t missing_bin = 255;

/// How many of some ascending numbers, at most 254, are below x; `missing_bin` for NaN. Found by halving without
/// branches.
class CodeTable {
 public:
  CodeTable() = default;
  /// The numbers must not be +infinity, with which the table is filled up.
  explicit CodeTable(std::span<const double> numbers);

  std::uint8_t code(double x) const {
    std::size_t below = 0;
    for (std::size_t step = half_; step > 0; step /= 2)
      below += step & -static_cast<std::size_t>(number_[below + step - 1] < x);
    return std::isnan(x) ? missing_bin : static_cast<std::uint8_t>(below);
  }
  /// The codes of `count` values, each `stride` after the one before.
  void codes(const double* x, Index stride, Index count, std::uint8_t* codes) const;

 private:
  std::size_t half_ = 0;
  std::vector<double> number_;
};

}  // namespace ecotone
