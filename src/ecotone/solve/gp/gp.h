#pragma once

#include <functional>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/gp/mean.h"

/// Gaussian processes: predictions and likelihood share one factorisation. The search maximises any likelihood, on
/// large data first on 500 rows. The residuals of all left-out folds come from one factorisation, and the low-rank
/// route needs only sums over blocks of rows.
///
/// Written by hand for row weights, for leaving domains out by one factorisation, and for equal bytes for any number of
/// threads.
///
/// Exact Gaussian process regression, y = m(x) + f(x) + e: f has covariance amplitude k(x, z), e has variance noise, or
/// noise / w_i for a row with a weight. The columns of Y are independent outputs that share the covariance, so one
/// factorisation serves all of them.
namespace ecotone {

/// k(r, c) between training rows i + r and j + c, on the calling thread; at most 256 x 256.
using GpTiles = std::function<void(Index i, Index j, MatrixView k)>;

/// Kernel values of the training rows: from a kernel on rows, or from a Gram matrix, of which only the lower triangle
/// is read. Rows and Gram matrix must outlive it.
class GpRows {
 public:
  GpRows(const Kernel& kernel, ConstMatrixView x) : kernel_(kernel), values_(x), gram_(false) {}
  explicit GpRows(ConstMatrixView gram) : values_(gram), gram_(true) {}

  Index size() const { return values_.rows(); }
  bool is_gram() const { return gram_; }
  /// Whether the kernel has a width that can be learned: k = exp(-t / sigma^p), p = 2 (rbf) or 1 (laplacian).
  bool has_width() const { return !gram_ && shift_invariant(kernel_); }
  const Kernel& kernel() const { return kernel_; }
  ConstMatrixView values() const { return values_; }
  /// Tiles with this width, if the kernel has one.
  GpTiles tiles(double sigma) const;
  Vector diagonal() const;

 private:
  Kernel kernel_;
  ConstMatrixView values_;
  bool gram_;
};

struct GpProblem {
  GpRows rows;
  ConstMatrixView y;       ///< n x outputs
  ConstMatrixView inputs;  ///< inputs of a linear mean, n rows; not used by others
  GpMean mean = GpMean::average;
  const char* who = "gp";  ///< the name used in messages
  /// Positive, one per row: the row counts as this many rows with equal y at one place. Empty: all 1.
  std::span<const double> weight = {};
};

struct GpParameters {
  double sigma = 1;      ///< width of the kernel, if it has one; that of the kernel itself is ignored
  double amplitude = 1;  ///< variance of f where k(x, x) = 1; positive
  double noise = 0.1;    ///< variance of e; nonnegative
};

/// Rejects problems that cannot be fitted. Option error `bad_option`; data errors `shape_mismatch`, `empty_data`,
/// `non_finite`, `bad_weight`, `too_few_rows` (for a linear mean).
void check_gp(const GpProblem& problem, const GpParameters& parameters);

/// A factored process: A = amplitude K + noise / W + jitter I = L L', with mean m = offset + h'beta.
struct GpFit {
  GpParameters parameters;
  GpBasis basis;
  Vector offset;  ///< of each output: its average, or 0 for a mean of zero
  Matrix beta;    ///< basis functions x outputs
  Matrix alpha;   ///< A^-1 (Y - M), n x outputs
  Cholesky factor;
  Matrix basis_half;          ///< L^-1 H
  Matrix basis_root;          ///< R, R R' = (H'A^-1 H)^+
  double jitter = 0;          ///< added to the noise so that a factor exists; 0 if none was needed
  double log_likelihood = 0;  ///< of all outputs; with beta maximised, not integrated out

  /// m + amplitude k'alpha at new rows: `cross` is k between new rows (down) and the training rows (across); `inputs`
  /// are used by a linear mean.
  Matrix mean(ConstMatrixView cross, ConstMatrixView inputs, const Context& context) const;
  /// Variance of f + m at new rows, the same for all outputs: amplitude k(x, x) - ||L^-1 amplitude k||^2 plus the
  /// uncertainty of beta. Add the noise for the variance of y. `diagonal` holds k(x, x).
  Vector variance(ConstMatrixView cross, const Vector& diagonal, ConstMatrixView inputs, const Context& context) const;
};

/// Memory is checked. If A has no factor in double precision, 1e-12 to 1e-6 of its mean diagonal is added (warning
/// `jitter`); data error `not_positive_definite` if that is not enough.
GpFit fit_gp(const GpProblem& problem, const GpParameters& parameters, const Context& context);

struct GpPrediction {
  Matrix mean;      ///< rows x outputs
  Vector variance;  ///< as GpFit::variance; empty if not requested
};

enum class GpVariance { none, latent };

/// Predictions at rows z, given the training rows x, by blocks of 1,024 rows. The inputs of a linear mean are the rows
/// themselves.
GpPrediction predict_gp(const GpFit& fit, const Kernel& kernel, ConstMatrixView x, ConstMatrixView z,
                        GpVariance variance, const Context& context);

}  // namespace ecotone
