#pragma once

#include "ecotone/base/context.h"
#include "ecotone/solve/ratios/kernel_ratio.h"

namespace ecotone {

/// Least squares (uLSIF for alpha = 0): H = a/n_t Phi_t'Phi_t + (1 - a)/n_s Phi_s'Phi_s, h = mean of Phi_t.
/// With masses of source rows, Phi_s' diag(mass) Phi_s in place of Phi_s'Phi_s.
struct LeastSquaresRatio {
  Vector unclipped;  ///< (H + lam I)^-1 h
  Vector theta;      ///< the same without what is negative
  Vector source_ratio;
  double left_out = 0;  ///< leave-one-out score J; smaller is better
};

/// `left_out` is exact: as by refitting without each row, and a mean over source rows by their masses. Data errors
/// `too_few_rows` if a sample has a single row, `singular`, `not_enough_memory`.
LeastSquaresRatio fit_least_squares_ratio(const RatioBumps& bumps, double alpha, double lam, const char* who,
                                          const Context& context);

/// Sigma and lam by J; of equal ones the larger sigma, then the larger lam. If both are given, a sample of one row will
/// do; its J is NaN.
KernelRatio least_squares_ratio(const RatioRows& rows, const KernelRatioOptions& options, const Context& context);

}  // namespace ecotone
