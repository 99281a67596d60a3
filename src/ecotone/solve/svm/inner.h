#pragma once

#include <vector>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Sizes used by the solvers: rows of a working set, and of the first one; rows per task over all rows; and steps in a
/// working set before others are considered again.
inline constexpr Index svm_working_rows = 256;
inline constexpr Index svm_first_rows = 32;
inline constexpr Index svm_piece = 2048;
inline constexpr Index svm_steps_in_round = 100000;

/// The slope of a coefficient that increases, minus the residual: minus infinity at its upper bound.
double svm_up(double beta, double high, double epsilon);
/// The slope of one that decreases, minus the residual: plus infinity at its lower bound.
double svm_down(double beta, double low, double epsilon);

/// The problem in the coefficients of a working set, with all others fixed.
struct SvmInner {
  explicit SvmInner(Index size);

  Index size;    ///< rows
  Index padded;  ///< padded to whole vectors with rows that never move
  Matrix k;      ///< padded x padded
  Vector diagonal, beta, low, high, up, down, u;
  double epsilon = 0;

  /// Fills up and down from beta.
  void prepare();
  /// Makes steps of two coefficients until no pair violates by more than `tolerance`, or `limit` steps were made;
  /// returns their number.
  Index solve(double tolerance, Index limit);

 private:
  /// Moves beta_i up and beta_j down by the same amount, which is returned.
  double step(Index i, Index j, double slope);
};

}  // namespace ecotone
