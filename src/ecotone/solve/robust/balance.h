#pragma once

#include <cstdint>
#include <span>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Equal weight for every cell (usually a domain, or a class in a domain).
struct BalancedCells {
  Vector factor;  ///< of each cell: total / (cells with weight * weight of the cell); 0 for a cell without weight
  Vector rows;    ///< of each cell
};

/// What row weights are multiplied by so that all cells of positive weight have the same sum of weights and the sum
/// over all rows stays. `cell`: of each row, in [0, cells); `weight` empty: all 1.
BalancedCells balanced_cells(std::span<const std::int32_t> cell, Index cells, ConstVectorView weight);

}  // namespace ecotone
