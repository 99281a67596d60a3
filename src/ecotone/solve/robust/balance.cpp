#include "ecotone/solve/robust/balance.h"

namespace ecotone {

BalancedCells balanced_cells(std::span<const std::int32_t> cell, Index cells, ConstVectorView weight) {
  BalancedCells result{Vector::Zero(cells), Vector::Zero(cells)};
  Vector sum = Vector::Zero(cells);
  for (std::size_t i = 0; i < cell.size(); ++i) {
    result.rows[cell[i]] += 1;
    sum[cell[i]] += weight.size() == 0 ? 1.0 : weight[static_cast<Index>(i)];
  }
  const auto filled = static_cast<double>((sum.array() > 0).count());
  // n / (E n_e)
  for (Index c = 0; c < cells; ++c)
    if (sum[c] > 0) result.factor[c] = sum.sum() / (filled * sum[c]);
  return result;
}

}  // namespace ecotone
