#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/kernels/landmark_kernel.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/linalg/row_solver.h"

namespace ecotone {

/// rho(x) of r numbers with k(x, z) ~ rho(x).rho(z).
///
/// Of landmarks: rho(x) = L^-1 (k(z_1, x), ..., k(z_r, x)), L L' the Gram matrix of the landmarks; exact between
/// landmarks. Of random Fourier features (rahimi2007): rho_j(x) = sqrt(2/r) cos(w_j.(x - o) + b_j).
class LowRankMap {
 public:
  /// Memory that one thread reuses.
  struct Workspace {
    Matrix x;
  };

  LowRankMap() = default;
  /// Landmarks, r x d, and the lower factor of their Gram matrix. `origin` (d) is where points are seen from. Data
  /// error `bad_map` when shapes or numbers cannot be those of a map (a model file may hold anything).
  static LowRankMap of_landmarks(const Kernel& kernel, Vector origin, Matrix landmarks, Matrix lower);
  /// Frequencies w / (2 pi), r x d, and phases b / (2 pi), r. Only of rbf and laplacian kernels.
  static LowRankMap of_frequencies(const Kernel& kernel, Vector origin, Matrix frequencies, Vector phases);

  const Kernel& kernel() const { return kernel_; }
  bool fourier() const { return phases_.size() > 0; }
  Index rank() const { return points_.rows(); }
  Index cols() const { return origin_.size(); }
  const Vector& origin() const { return origin_; }
  /// Landmarks, or frequencies in turns.
  const Matrix& points() const { return points_; }
  /// L, of landmarks.
  const Matrix& lower() const { return lower_; }
  /// In turns, of Fourier features.
  const Vector& phases() const { return phases_; }

  /// out(i, :) = rho(x_i), on the calling thread.
  void features(ConstMatrixView x, MatrixView out, Workspace& workspace) const;
  /// What projections (rho(x) - mean)' theta of many rows need: see LowRankProjection. raw(x) is k(x, z_j), or rho(x)
  /// itself of Fourier features.
  void raw(ConstMatrixView x, MatrixView out, Workspace& workspace) const;
  /// rows <- L^-1 row for each row; nothing to do for Fourier features.
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

/// How landmarks are chosen, or that there are none.
enum class LowRankKind {
  pivoted,  ///< drawn one after the other in proportion to what is not yet explained of k(x, x) (chen2022)
  uniform,  ///< drawn uniformly
  greedy,   ///< the row that is explained least, each time
  fourier,  ///< random Fourier features
};

struct LowRankOptions {
  LowRankKind kind = LowRankKind::pivoted;
  Index rank = 500;      ///< at most so many features
  double residual = 0;   ///< fewer when this residual is reached; 0: never
  Index sample = 20000;  ///< rows that landmarks are chosen from
};

/// A map and how good it is.
struct LowRankFit {
  LowRankMap map;
  /// tr(K - R R') / tr(K) over the sampled rows. Fourier features are no projection, so their trace says nothing:
  /// there it is ||K - R R'||_F / ||K||_F over at most 1,000 of them.
  double residual = 0;
  Index sample = 0;     ///< rows that were looked at
  double diagonal = 1;  ///< mean of k(x, x) over them
};

/// Chooses landmarks from rows drawn by the context's seed, all rows where there are few.
///
/// A row whose unexplained k(x, x) is below 1e-13 of the largest k(x, x) is never a landmark: there only rounding is
/// left. So diagonal entries of L differ by at most about 3e6, duplicates and kernels of finite rank give fewer
/// features than asked, and L is the factor of the elimination itself, never of a nearly singular Gram matrix. In the
/// orders `pivoted` and `greedy` rho.rho then is good to about 1e-12, in the order `uniform` to 1e-8 at worst.
/// Option error `bad_option`; data errors `no_rows`, `non_finite`, `not_enough_memory`.
LowRankFit fit_low_rank(const Features& x, const Kernel& kernel, const LowRankOptions& options, const Context& context);

}  // namespace ecotone
