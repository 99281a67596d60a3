#pragma once

#include "ecotone/linalg/matrix.h"

/// Products on the calling thread, for use inside a block of rows.
namespace ecotone {

/// C = alpha A B' + keep C.
void product_by_transpose(double alpha, ConstMatrixView a, ConstMatrixView b, double keep, MatrixView c);

/// C = A B.
void multiply_into(ConstMatrixView a, ConstMatrixView b, MatrixView c);

/// Solves X L' = B for rows of B, L lower triangular: x = L^-1 b for each row. Panels of 64 columns by products, which
/// is near the speed of products where a triangular solve has half of it; the 64 x 64 blocks on the diagonal are
/// inverted once, the rest of L never is, so errors grow with the condition of those blocks alone.
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
  Matrix factor_;  // L with each diagonal block replaced by its inverse
};

}  // namespace ecotone
