#pragma once

#include "ecotone/base/context.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/components/components.h"
#include "ecotone/solve/components/low_rank_sums.h"

/// Invariant components (components.h) of K = R R', R the centred features of a low-rank map: from sums over rows, in
/// a time that no longer depends on the number of rows. With as many landmarks as rows they are the exact ones.
namespace ecotone {

struct LowRankComponents {
  Matrix theta;   ///< r x components; a row's projection is (rho(x) - mean)' theta
  Vector mean;    ///< of rho over the rows
  Vector spread;  ///< root of the mean square of each training projection
  ComponentSpectrum spectrum;
};

/// `epsilon` is that of P, read by supervised components alone. Option error `bad_option` for lam = 0 in the paper
/// form, or epsilon that is not positive; data errors `empty_group`, `non_finite`.
LowRankComponents low_rank_components(const LowRankSums& sums, const ComponentOptions& options, double epsilon,
                                      const Context& context);

/// Projections of rows, block by block.
///
/// theta' (rho(x) - mean) = (L^-T theta)' k(x) - theta' mean: the right side needs no triangular solve and so is many
/// times faster, but sums terms as large as L^-T theta. `direct` says to take it: see direct_is_safe.
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

/// Whether rounding of the direct sums stays below 1e-12 of every component's spread; only of kernels bounded by 1.
bool direct_is_safe(const LowRankMap& map, const LowRankComponents& components);

}  // namespace ecotone
