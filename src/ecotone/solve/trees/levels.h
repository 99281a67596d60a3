#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/solve/trees/code_table.h"

namespace ecotone {

/// The categories of a column by their codes; other values have the code of missing ones.
class TreeLevels {
 public:
  TreeLevels() = default;
  /// At most 255 distinct numbers: that of code 0, of code 1, ...
  explicit TreeLevels(std::vector<double> by_code) : by_code_(std::move(by_code)) {
    for (std::size_t code = 0; code < by_code_.size(); ++code)
      sorted_.emplace_back(by_code_[code], static_cast<std::uint8_t>(code));
    std::ranges::sort(sorted_);
  }

  std::size_t size() const { return by_code_.size(); }
  double operator[](std::size_t code) const { return by_code_[code]; }
  const std::vector<double>& by_code() const { return by_code_; }

  std::uint8_t code(double x) const {
    const auto found = std::ranges::lower_bound(sorted_, x, {}, &std::pair<double, std::uint8_t>::first);
    return found == sorted_.end() || found->first != x ? missing_bin : found->second;
  }

 private:
  std::vector<double> by_code_;
  std::vector<std::pair<double, std::uint8_t>> sorted_;
};

}  // namespace ecotone
