#pragma once

#include <optional>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

/// Ratios of densities as sums of Gaussian bumps: ratio(x) = sum_l alpha_l exp(-|x - c_l|^2 / (2 sigma^2)) with centres
/// c_l among the target rows. The first `sources` rows are the source, the others the target, as in density_ratio.h.
namespace ecotone {

/// Values of the bumps at all rows, and the centres.
struct RatioBumps {
  Matrix source;  ///< n_s x centres
  Matrix target;  ///< n_t x centres
};

/// Centres by greedy pivots of the Gaussian kernel on the target rows: each time the row that the others explain least.
/// At most `most`; deterministic.
Matrix ratio_centres(ConstMatrixView target, double sigma, Index most, const Context& context);

/// Squared distances of source and target rows to the centres; memory is checked.
struct CentreDistances {
  Matrix source;
  Matrix target;
};
CentreDistances centre_distances(ConstMatrixView x, Index sources, ConstMatrixView centres, const char* who,
                                 const Context& context);
RatioBumps ratio_bumps(const CentreDistances& distances, double sigma, const Context& context);

/// KLIEP: maximises the mean of ln ratio over the target with alpha >= 0 and a mean ratio of 1 over the source.
struct KliepFit {
  Vector alpha;
  Vector source_ratio;
  Vector target_ratio;
  double objective = 0;    ///< mean of ln ratio over the target
  double certificate = 0;  ///< the optimum is at most this much higher
  int iterations = 0;
  bool converged = false;
};
/// EM with a Newton step on the support every 200 iterations, to a certificate of 1e-8 or `tolerance`. Data error
/// `zero_weights` if no bump reaches both samples.
KliepFit fit_kliep(const RatioBumps& bumps, double tolerance, const char* who, const Context& context);

/// Least squares (uLSIF for alpha = 0): H = a/n_t Phi_t'Phi_t + (1 - a)/n_s Phi_s'Phi_s, h = mean of Phi_t.
struct LeastSquaresRatio {
  Vector unclipped;  ///< (H + lam I)^-1 h
  Vector theta;      ///< the same without what is negative
  Vector source_ratio;
  double left_out = 0;  ///< leave-one-out score J; smaller is better
};
/// `left_out` is exact: as by refitting without each row. Data error `too_few_rows` if a sample has a single row.
LeastSquaresRatio fit_least_squares_ratio(const RatioBumps& bumps, double alpha, double lam, const char* who,
                                          const Context& context);

struct KernelRatioOptions {
  std::optional<double> sigma = {};  ///< none: chosen among {0.5, 0.7, 1, 1.4, 2} times the median distance
  std::optional<double> lam = {};    ///< least squares; none: chosen among {1e-3, 0.01, 0.1, 1}
  double alpha = 0;                  ///< least squares
  Index centres = 100;
  const char* who = "weight.kliep";
};

/// The ratio at the source rows, and what was chosen.
struct KernelRatio {
  Vector ratio;
  double sigma = 0;
  double lam = 0;
  double score = 0;  ///< of the choice: held-out mean ln ratio (KLIEP), J (least squares)
  bool converged = true;
};
/// Sigma by the likelihood of target rows held out in 5 folds.
KernelRatio kliep_ratio(const Features& x, Index sources, const KernelRatioOptions& options, const Context& context);
/// Sigma and lam by J; of equal ones the larger sigma, then the larger lam.
KernelRatio least_squares_ratio(const Features& x, Index sources, const KernelRatioOptions& options,
                                const Context& context);

}  // namespace ecotone
