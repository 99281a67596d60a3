#pragma once

#include <functional>
#include <optional>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/gp/likelihood.h"
#include "ecotone/solve/gp/mean.h"

/// Gaussian process regression over a low-rank map rho of r features, k(x, z) ~ rho(x).rho(z): f(x) = rho(x)'w, where w
/// has covariance amplitude I (subset of regressors). Time is proportional to the number of rows, memory to r^2.
namespace ecotone {

/// Rows in blocks, and their features under a map.
struct GpMapRows {
  const Features& x;
  Index rank = 0;
  /// rho of every row of a block, on the calling thread.
  std::function<void(const RowBlock& block, MatrixView rho)> features;
  /// k(x, x) of every row of a block.
  std::function<Vector(const RowBlock& block)> prior;
};
/// The map must outlive the result. Data error `shape_mismatch`.
GpMapRows gp_map_rows(const Features& x, const LowRankMap& map);

/// Sums over the rows: all that fits with any amplitude and noise need. A row counts w_i times (see GpProblem).
struct GpSums {
  GpBasis basis;
  Vector offset;  ///< of each output: its average, or 0 for a mean of zero
  double rows = 0;
  double log_weight = 0;  ///< sum of ln w_i
  Matrix gram;            ///< S = sum of w rho rho', r x r, both triangles
  Matrix y_map;           ///< sum of w rho y', r x outputs, y without the offset
  Matrix h_map;           ///< sum of w rho h', r x basis functions
  Matrix targets;         ///< sum of w g g' over the rows g = (y, h)

  Index rank() const { return gram.rows(); }
  Index outputs() const { return offset.size(); }
};

/// One pass over the rows, which may be in a file; the outputs Y (and the inputs of a linear mean) are in memory. The
/// bytes of the result do not depend on the number of threads. Without weights, all are 1. Data errors
/// `shape_mismatch`, `no_rows`, `non_finite`, `bad_weight`, `too_few_rows` (for a linear mean), `not_enough_memory`.
GpSums gather_gp_sums(const GpMapRows& rows, ConstMatrixView y, ConstMatrixView inputs, GpMean mean,
                      std::span<const double> weight, const Context& context);

/// Likelihood of the outputs under the covariance amplitude R R' + noise I, and its derivatives with respect to the
/// logarithms of amplitude and noise, from the sums alone. Empty if there is no factor. The noise must be positive.
std::optional<GpLikelihood> gp_low_rank_likelihood(const GpSums& sums, const GpParameters& parameters,
                                                   const Context& context);

/// The best amplitude and noise; the width is that of the map. `diagonal` is the mean of k(x, x).
GpSearch maximise_low_rank_likelihood(const GpSums& sums, double diagonal, const GpSearchOptions& options,
                                      const Context& context);

/// A fitted process: the mean is offset + h'beta + rho'weights.
struct GpLowRankFit {
  GpParameters parameters;  ///< sigma is that of the map's kernel
  GpBasis basis;
  Vector offset;
  Matrix beta;        ///< basis functions x outputs
  Matrix weights;     ///< r x outputs
  Cholesky factor;    ///< of B = amplitude S + noise I
  Matrix basis_map;   ///< H'R, basis functions x r
  Matrix basis_root;  ///< as GpFit::basis_root
  double log_likelihood = 0;
};

/// Option error `bad_option` if the noise is not positive; data error `not_positive_definite`.
GpLowRankFit fit_gp_low_rank(const GpSums& sums, const GpParameters& parameters, const Context& context);

/// What the variance of a low-rank process includes.
enum class GpLowRankVariance {
  none,
  /// Only that of rho'w and the mean: what the map leaves out counts as 0, so it is too small far from the landmarks.
  map,
  /// The same plus amplitude (k(x, x) - ||rho(x)||^2), the part that the map leaves out (deterministic training
  /// conditional): far away it is that of the prior. If the map is exact, both are the variance of the exact process.
  whole,
};

/// Predictions at the rows of x, block by block on all threads. `inputs` are used by a linear mean.
GpPrediction predict_gp_low_rank(const GpLowRankFit& fit, const GpMapRows& rows, ConstMatrixView inputs,
                                 GpLowRankVariance variance, const Context& context);
GpPrediction predict_gp_low_rank(const GpLowRankFit& fit, const LowRankMap& map, const Features& x,
                                 ConstMatrixView inputs, GpLowRankVariance variance, const Context& context);

}  // namespace ecotone
