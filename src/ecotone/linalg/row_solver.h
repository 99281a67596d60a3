#pragma once

#include <cstdint>
#include <vector>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Solves X L' = B for rows of B, with L lower triangular: x = L^-1 b for each row. Works on panels of 64 columns by
/// products, which is close to the speed of a matrix product, twice that of a triangular solve. A 64 x 64 diagonal
/// block is inverted once if its condition number is below 1,000, so that no more than 3 digits can be lost; for other
/// blocks the triangular system is solved. The solution of a row does not depend on the other rows.
class RowSolver {
 public:
  static constexpr Index panel = 64;

  RowSolver() = default;
  /// Only the lower triangle is read; the diagonal must not contain 0.
  explicit RowSolver(ConstMatrixView lower);

  Index size() const { return factor_.rows(); }
  /// rows <- rows L^-T.
  void solve(MatrixView rows) const;

 private:
  Matrix factor_;                       // L, with some diagonal blocks replaced by their inverses
  std::vector<std::uint8_t> inverted_;  // one per diagonal block
};

}  // namespace ecotone
