#pragma once

#include <cstdint>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Adds the entries of a tile to the sums of their domains: sum(domain of row, domain of column) += k.
inline void add_tile(ConstMatrixView k, const std::int32_t* down, const std::int32_t* across, Matrix& sum) {
  for (Index r = 0; r < k.rows(); ++r) {
    const double* const row = k.data() + r * k.outerStride();
    double* const into = sum.data() + down[r] * sum.cols();
    // Rows of one domain are mostly adjacent: add up the run.
    for (Index c = 0; c < k.cols();) {
      const std::int32_t d = across[c];
      double run = 0;
      for (; c < k.cols() && across[c] == d; ++c) run += row[c];
      into[d] += run;
    }
  }
}

}  // namespace ecotone
