#include "ecotone/solve/trees/code_table.h"

#include <algorithm>
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

}  // namespace ecotone
