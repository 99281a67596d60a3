#pragma once

#include <functional>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/gp/mean.h"

/// Exact Gaussian process regression, y = m(x) + f(x) + e: f of covariance amplitude k(x, z), e of variance noise, or
/// noise / w_i of a row with a weight. The columns of Y are independent outputs that share the covariance, so one
/// factorisation serves all of them.
namespace ecotone {

/// k(r, c) of training rows i + r and j + c, on the calling thread; at most 256 a side.
using GpTiles = std::function<void(Index i, Index j, MatrixView k)>;

/// Kernel values of the training rows: of a kernel on rows, or of a Gram matrix, whose lower triangle alone is read.
/// Rows and Gram matrix must live on.
class GpRows {
 public:
  GpRows(const Kernel& kernel, ConstMatrixView x) : kernel_(kernel), values_(x), gram_(false) {}
  explicit GpRows(ConstMatrixView gram) : values_(gram), gram_(true) {}

  Index size() const { return values_.rows(); }
  bool is_gram() const { return gram_; }
  /// Whether there is a width that can be learned: k = exp(-t / sigma^p), p = 2 (rbf) or 1 (laplacian).
  bool has_width() const { return !gram_ && shift_invariant(kernel_); }
  const Kernel& kernel() const { return kernel_; }
  ConstMatrixView values() const { return values_; }
  /// With this width, where the kernel has one.
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
  ConstMatrixView inputs;  ///< what a linear mean is of, n rows; others do not read it
  GpMean mean = GpMean::average;
  const char* who = "gp";  ///< in messages
  /// Positive, one per row: it counts as so many rows of equal y that lie at one place. Empty: all 1.
  std::span<const double> weight = {};
};

struct GpParameters {
  double sigma = 1;      ///< width of the kernel, where it has one; that of the kernel itself is not read
  double amplitude = 1;  ///< variance of f where k(x, x) = 1; positive
  double noise = 0.1;    ///< variance of e; not negative
};

/// Refuses problems that cannot be fitted. Option error `bad_option`; data errors `shape_mismatch`, `empty_data`,
/// `non_finite`, `bad_weight`, `too_few_rows` (of a linear mean).
void check_gp(const GpProblem& problem, const GpParameters& parameters);

/// A factored process: A = amplitude K + noise / W + jitter I = L L', the mean m = offset + h'beta.
struct GpFit {
  GpParameters parameters;
  GpBasis basis;
  Vector offset;  ///< of each output: its average, or 0 under a mean of zero
  Matrix beta;    ///< functions of the basis x outputs
  Matrix alpha;   ///< A^-1 (Y - M), n x outputs
  Cholesky factor;
  Matrix basis_half;          ///< L^-1 H
  Matrix basis_root;          ///< R, R R' = (H'A^-1 H)^+
  double jitter = 0;          ///< added to the noise so that a factor exists; 0 where none was needed
  double log_likelihood = 0;  ///< of all outputs; with beta at its best, not integrated out

  /// m + amplitude k'alpha of new rows: `cross` is k of new rows (down) with the training rows (across), `inputs` are
  /// read by a linear mean.
  Matrix mean(ConstMatrixView cross, ConstMatrixView inputs, const Context& context) const;
  /// Variance of f + m at new rows, the same for all outputs: amplitude k(x, x) - ||L^-1 amplitude k||^2 and what is
  /// not known of beta. Add the noise for that of y. `diagonal` holds k(x, x).
  Vector variance(ConstMatrixView cross, const Vector& diagonal, ConstMatrixView inputs, const Context& context) const;
};

/// Memory checked. Where A has no factor in double precision, 1e-12 to 1e-6 of its mean diagonal is added (warning
/// `jitter`); data error `not_positive_definite` where that is not enough.
GpFit fit_gp(const GpProblem& problem, const GpParameters& parameters, const Context& context);

struct GpPrediction {
  Matrix mean;      ///< rows x outputs
  Vector variance;  ///< as GpFit::variance; empty where it was not asked for
};

enum class GpVariance { none, latent };

/// At rows z, given the training rows x, by blocks of 1,024 rows. Inputs of a linear mean are the rows themselves.
GpPrediction predict_gp(const GpFit& fit, const Kernel& kernel, ConstMatrixView x, ConstMatrixView z,
                        GpVariance variance, const Context& context);

}  // namespace ecotone
