#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/kernels/landmark_kernel.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/linalg/row_solver.h"

namespace ecotone {

/// rho(x), a vector of length r with k(x, z) ~ rho(x).rho(z).
///
/// From landmarks: rho(x) = L^-1 (k(z_1, x), ..., k(z_r, x)), where L L' is the Gram matrix of the landmarks; exact
/// between landmarks. From random Fourier features (rahimi2007): rho_j(x) = sqrt(2/r) cos(w_j.(x - o) + b_j).
class LowRankMap {
 public:
  /// Memory that one thread reuses.
  struct Workspace {
    Matrix x;
  };

  LowRankMap() = default;
  /// Landmarks, r x d, and the lower factor of their Gram matrix. Points are measured from `origin` (d). Data error
  /// `bad_map` if shapes or values cannot belong to a map (a model file may hold anything).
  static LowRankMap of_landmarks(const Kernel& kernel, Vector origin, Matrix landmarks, Matrix lower);
  /// Frequencies w / (2 pi), r x d, and phases b / (2 pi), r. For rbf and laplacian kernels only.
  static LowRankMap of_frequencies(const Kernel& kernel, Vector origin, Matrix frequencies, Vector phases);

  const Kernel& kernel() const { return kernel_; }
  bool fourier() const { return phases_.size() > 0; }
  Index rank() const { return points_.rows(); }
  Index cols() const { return origin_.size(); }
  const Vector& origin() const { return origin_; }
  /// Landmarks, or frequencies in turns.
  const Matrix& points() const { return points_; }
  /// L, for landmarks.
  const Matrix& lower() const { return lower_; }
  /// Phases in turns, for Fourier features.
  const Vector& phases() const { return phases_; }

  /// out(i, :) = rho(x_i), on the calling thread.
  void features(ConstMatrixView x, MatrixView out, Workspace& workspace) const;
  /// What projections (rho(x) - mean)' theta of many rows need: see LowRankProjection. raw(x) is k(x, z_j), or rho(x)
  /// itself for Fourier features.
  void raw(ConstMatrixView x, MatrixView out, Workspace& workspace) const;
  /// rows <- L^-1 row for each row; does nothing for Fourier features.
  void finish(MatrixView rows) const;

 private:
  Kernel kernel_;
  Vector origin_;
  Matrix points_;
  Matrix lower_;
  Vector phases_;
  LandmarkKernel landmarks_;
  RowSolver solver_;
};

/// How landmarks are chosen, or Fourier features instead.
enum class LowRankKind {
  pivoted,  ///< drawn one by one, in proportion to the part of k(x, x) not yet explained (chen2022)
  uniform,  ///< drawn uniformly
  greedy,   ///< each time the row that is explained least
  fourier,  ///< random Fourier features
};

struct LowRankOptions {
  LowRankKind kind = LowRankKind::pivoted;
  Index rank = 500;      ///< largest number of features
  double residual = 0;   ///< fewer features if this residual is reached; 0: never
  Index sample = 10000;  ///< number of rows that landmarks are chosen from, unless the rank is larger
};

/// A map, and how good it is.
struct LowRankFit {
  LowRankMap map;
  /// tr(K - R R') / tr(K) over the sampled rows. Fourier features are not a projection, so their trace means little:
  /// for them, ||K - R R'||_F / ||K||_F over at most 1,000 of the rows.
  double residual = 0;
  Index sample = 0;     ///< number of sampled rows
  double diagonal = 1;  ///< mean of k(x, x) over them
};

/// Random Fourier features drawn with the context's seed for rows of this many columns, measured from `origin`: they
/// need no row. Option error `bad_option` for a kernel that has none.
LowRankMap drawn_map(const Kernel& kernel, Vector origin, Index rank, const Context& context);

/// Chooses landmarks from rows drawn with the context's seed, or from all rows if there are few.
///
/// A row whose unexplained k(x, x) is below 1e-13 of the largest k(x, x) never becomes a landmark: only rounding is
/// left there. The diagonal entries of L therefore differ by a factor of at most about 3e6, duplicate rows and kernels
/// of finite rank give fewer features than requested, and L is the factor of the elimination itself, never of a nearly
/// singular Gram matrix. With the orders `pivoted` and `greedy`, rho.rho is then accurate to about 1e-12, with
/// `uniform` to 1e-8 at worst. Option error `bad_option`; data errors `no_rows`, `non_finite`, `not_enough_memory`.
LowRankFit fit_low_rank(const Features& x, const Kernel& kernel, const LowRankOptions& options, const Context& context);

}  // namespace ecotone
