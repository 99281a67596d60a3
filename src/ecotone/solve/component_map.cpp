#include "ecotone/solve/component_map.h"

#include <algorithm>

namespace ecotone {

void ComponentMap::project(ConstMatrixView x, MatrixView z) const {
  if (size() == 0) return;
  constexpr Index side = KernelTiles::side;
  const KernelTiles tiles(kernel, x, rows);
  Matrix k;
  for (Index i = 0; i < x.rows(); i += side) {
    const Index down = std::min(side, x.rows() - i);
    auto part = z.middleRows(i, down);
    part = (-bias.transpose()).replicate(down, 1);
    for (Index j = 0; j < rows.rows(); j += side) {
      const Index across = std::min(side, rows.rows() - j);
      k.resize(down, across);
      tiles.tile(i, j, k);
      part.noalias() += k * coefficients.middleRows(j, across);
    }
  }
}

}  // namespace ecotone
