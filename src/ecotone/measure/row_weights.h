#pragma once

#include <cstddef>
#include <span>

namespace ecotone {

/// One weight >= 0 per row; empty: all 1. A row of weight 0 counts as if it were absent, one of weight 2 as two rows.
using RowWeights = std::span<const double>;

inline double weight_at(RowWeights weight, std::size_t row) { return weight.empty() ? 1.0 : weight[row]; }

/// Sum of the weights of `rows` rows.
inline double total_weight(RowWeights weight, std::size_t rows) {
  if (weight.empty()) return static_cast<double>(rows);
  double sum = 0;
  for (const double w : weight) sum += w;
  return sum;
}

}  // namespace ecotone
