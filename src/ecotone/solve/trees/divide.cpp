#include "ecotone/solve/trees/divide.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ecotone {

namespace {

constexpr Index rows_of_part = 1 << 14;

/// Writes rows that go left to the beginning of `moved` and others to its end, those turned round; returns how many go
/// left. Every row is written to both places, and the one where it does not belong is written again: no branches.
Index part_rows(std::span<const std::uint32_t> rows, const std::uint8_t* codes,
                const std::array<std::uint8_t, 256>& goes_left, std::uint32_t* moved) {
  const Index count = std::ssize(rows);
  Index left = 0;
  for (Index i = 0; i < count; ++i) {
    const std::uint32_t row = rows[at(i)];
    moved[left] = row;
    moved[count - 1 - (i - left)] = row;
    left += goes_left[codes[row]];
  }
  return left;
}

}  // namespace

Index divide_rows(std::span<std::uint32_t> rows, std::span<std::uint32_t> moved, const std::uint8_t* codes,
                  const TreeNode& node, const Context& context) {
  std::array<std::uint8_t, 256> goes_left{};
  for (std::size_t code = 0; code < goes_left.size(); ++code)
    goes_left[code] = node.goes_left(static_cast<std::uint8_t>(code)) ? 1 : 0;
  const Index parts = (std::ssize(rows) + rows_of_part - 1) / rows_of_part;
  const auto begin_of = [&](Index p) { return p * std::ssize(rows) / parts; };
  std::vector<Index> before(at(parts) + 1, 0);  // rows that go left in the parts before
  context.parallel(parts, [&](Index p) {
    const auto own = rows.subspan(at(begin_of(p)), at(begin_of(p + 1) - begin_of(p)));
    before[at(p) + 1] = part_rows(own, codes, goes_left, moved.data() + begin_of(p));
  });
  for (std::size_t p = 0; p + 1 < before.size(); ++p) before[p + 1] += before[p];
  context.parallel(parts, [&](Index p) {
    const auto from = moved.begin() + begin_of(p), end = moved.begin() + begin_of(p + 1);
    const auto middle = from + (before[at(p) + 1] - before[at(p)]);
    std::copy(from, middle, rows.begin() + before[at(p)]);
    std::reverse_copy(middle, end, rows.begin() + before.back() + begin_of(p) - before[at(p)]);
  });
  return before.back();
}

}  // namespace ecotone
