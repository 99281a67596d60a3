#include "ecotone/solve/trees/code_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "ecotone/base/error.h"

namespace ecotone {

CodeTable::CodeTable(std::span<const double> numbers) {
  if (std::ssize(numbers) >= most_tree_bins) internal_error("trees: {} numbers in a table of codes", numbers.size());
  const std::size_t size = std::bit_ceil(numbers.size() + 1);
  half_ = size / 2;
  number_.assign(size, std::numeric_limits<double>::infinity());
  std::copy(numbers.begin(), numbers.end(), number_.begin());
}

void CodeTable::codes(const double* x, Index stride, Index count, std::uint8_t* codes) const {
  // Eight searches go side by side, so that none waits for the memory of another.
  constexpr Index together = 8;
  Index i = 0;
  for (; i + together <= count; i += together) {
    const double* own = x + i * stride;
    std::array<std::size_t, together> below{};
    for (std::size_t step = half_; step > 0; step /= 2)
      for (Index k = 0; k < together; ++k)
        below[at(k)] += step & -static_cast<std::size_t>(number_[below[at(k)] + step - 1] < own[k * stride]);
    for (Index k = 0; k < together; ++k)
      codes[i + k] = std::isnan(own[k * stride]) ? missing_bin : static_cast<std::uint8_t>(below[at(k)]);
  }
  for (; i < count; ++i) codes[i] = code(x[i * stride]);
}

}  // namespace ecotone
