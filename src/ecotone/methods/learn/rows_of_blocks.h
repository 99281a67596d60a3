#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Blocks of rows that kernel methods read and predict together.
inline constexpr Index blocks_together = 16;

/// Rows of the blocks [first, end), dense.
inline Matrix rows_of_blocks(const Features& x, Index first, Index end, const Context& context) {
  const Index start = x.first_row(first);
  Matrix rows(x.first_row(end - 1) + x.rows_in(end - 1) - start, x.cols());
  context.parallel(end - first, [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(first + b, scratch);
    rows.middleRows(block.first - start, block.x.rows()) = block.x;
  });
  return rows;
}

}  // namespace ecotone
