#pragma once

#include <optional>

#include "ecotone/base/context.h"
#include "ecotone/solve/ratios/kernel_ratio.h"

namespace ecotone {

/// KLIEP: maximises the mean of ln ratio over the target with alpha >= 0 and a mean ratio of 1 over the source, by the
/// masses of its rows.
struct KliepFit {
  Vector alpha;
  Vector source_ratio;
  Vector target_ratio;
  double objective = 0;    ///< mean of ln ratio over the target
  double certificate = 0;  ///< the optimum is at most this much higher
  int iterations = 0;
  bool converged = false;
};

/// EM with a Newton step on the support every 200 iterations, to a certificate of `tolerance`. Keeps the values of the
/// bumps at the target rows. Data errors `zero_weights` if no bump reaches both samples, `not_enough_memory`.
KliepFit fit_kliep(const RatioBumps& bumps, double tolerance, const char* who, const Context& context);

/// Sigma by the likelihood of target rows held out in 5 folds; widths that have `zero_weights` are passed over, and the
/// error is thrown only if all have.
KernelRatio kliep_ratio(const RatioRows& rows, const KernelRatioOptions& options, const Context& context);

}  // namespace ecotone
