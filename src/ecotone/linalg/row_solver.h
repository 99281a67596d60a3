#pragma once

#include <cstdint>
#include <vector>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Solves X L' = B for rows of B, L lower triangular: x = L^-1 b for each row. Panels of 64 columns by products, which
/// is near the speed of products where a triangular solve has half of it. A 64 x 64 block on the diagonal is inverted
/// once when its condition number is below 1,000, so that no more than 3 digits can be lost; others are solved with.
class RowSolver {
 public:
  static constexpr Index panel = 64;

  RowSolver() = default;
  /// Only the lower triangle is read; the diagonal must not be 0.
  explicit RowSolver(ConstMatrixView lower);

  Index size() const { return factor_.rows(); }
  /// rows <- rows L^-T.
  void solve(MatrixView rows) const;

 private:
  Matrix factor_;                       // L, some diagonal blocks replaced by their inverses
  std::vector<std::uint8_t> inverted_;  // one per diagonal block
};

}  // namespace ecotone
