#pragma once

#include "ecotone/base/context.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/components/components.h"
#include "ecotone/solve/components/low_rank_sums.h"

/// Invariant components (components.h) of K = R R', where R are the centred features of a low-rank map: computed from
/// sums over rows, in time independent of the number of rows. With as many landmarks as rows they are exact.
namespace ecotone {

struct LowRankComponents {
  Matrix theta;   ///< r x components; the projection of a row is (rho(x) - mean)' theta
  Vector mean;    ///< mean of rho over the rows
  Vector spread;  ///< root mean square of each training projection
  ComponentSpectrum spectrum;
};

/// `epsilon` is that of P, used only by supervised components. Option error `bad_option` for lam = 0 in the paper form,
/// or for an epsilon that is not positive; data errors `empty_group`, `non_finite`.
LowRankComponents low_rank_components(const LowRankSums& sums, const ComponentOptions& options, double epsilon,
                                      const Context& context);

/// Projections of rows, block by block.
///
/// theta' (rho(x) - mean) = (L^-T theta)' k(x) - theta' mean: the right side needs no triangular solve and is many
/// times faster, but sums terms as large as L^-T theta. `direct` selects it: see direct_is_safe.
class LowRankProjection {
 public:
  LowRankProjection() = default;
  LowRankProjection(LowRankMap map, Matrix theta, Vector mean, bool direct);

  const LowRankMap& map() const { return map_; }
  const Matrix& theta() const { return theta_; }
  const Vector& mean() const { return mean_; }
  bool direct() const { return direct_; }
  Index components() const { return theta_.cols(); }

  /// out(i, :) = (rho(x_i) - mean)' theta, on the calling thread.
  void project(ConstMatrixView x, MatrixView out) const;

 private:
  LowRankMap map_;
  Matrix theta_;
  Vector mean_;
  bool direct_ = false;
  Matrix coefficients_;  // L^-T theta
  Vector bias_;          // theta' mean
};

/// Whether the rounding of the direct sums stays below 1e-12 of the spread of every component; only for kernels bounded
/// by 1.
bool direct_is_safe(const LowRankMap& map, const LowRankComponents& components);

}  // namespace ecotone
