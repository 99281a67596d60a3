#pragma once

#include "ecotone/data/features.h"

namespace ecotone::test {

/// Normal numbers, each with this probability, else 0.
inline Matrix random_sparse_matrix(Index rows, Index cols, double density, std::string_view purpose) {
  Random random(7, purpose);
  Matrix x(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = random.uniform() < density ? random.normal() : 0.0;
  return x;
}

/// The same rows stored sparsely; zeros are not stored.
inline Csr to_csr(const Matrix& x) {
  Csr csr{.rows = x.rows(), .cols = x.cols(), .row_start = {0}, .column = {}, .value = {}};
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      if (x(i, j) == 0) continue;
      csr.column.push_back(static_cast<std::int32_t>(j));
      csr.value.push_back(x(i, j));
    }
    csr.row_start.push_back(static_cast<Index>(csr.value.size()));
  }
  return csr;
}

}  // namespace ecotone::test
