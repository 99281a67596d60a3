#pragma once

#include <cstdint>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/solve/trees/tree.h"

namespace ecotone {

/// Puts the rows that go left at a node before the others, both in their order; returns how many go left. `codes` are
/// those of the node's column for all rows of the data; `moved` is memory for as many rows.
Index divide_rows(std::span<std::uint32_t> rows, std::span<std::uint32_t> moved, const std::uint8_t* codes,
                  const TreeNode& node, const Context& context);

}  // namespace ecotone
