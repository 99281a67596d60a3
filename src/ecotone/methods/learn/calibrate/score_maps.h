#pragma once

#include "ecotone/linalg/matrix.h"

/// Maps from a decision value to the probability of a class. They know rows with targets and weights, nothing else.
namespace ecotone {

/// ln p - ln (1 - p), with p kept 1e-15 away from 0 and 1.
double log_odds_of(double p);

/// Each of several classes against the others: s_k - ln sum_{l != k} exp s_l, the log odds of a softmax, finite.
/// Decision values of several classes are meaningful only relative to each other. One value stays as it is.
Vector versus_rest(ConstVectorView score);

/// p = 1 / (1 + exp(-(slope s + intercept))), platt1999.
struct PlattMap {
  double slope = 0;
  double intercept = 0;

  /// slope s + intercept, finite.
  double log_odds(double score) const;
};

/// What fitting a Platt map gives.
struct PlattFit {
  PlattMap map;
  bool converged = true;
};

/// Minimises sum_i w_i (ln(1 + exp z_i) - t_i z_i), z_i = slope s_i + intercept, to full accuracy, where t is
/// (N+ + 1) / (N+ + 2) in rows of the class and 1 / (N- + 2) in others, N the sums of weights. `positive` holds 0 or 1.
/// Where all scores are equal the slope is 0. Some weight must be above 0.
PlattFit fit_platt(ConstVectorView score, ConstVectorView positive, ConstVectorView weight);

/// A non-decreasing function by its knots: linear between them, constant beyond the ends.
struct IsotonicMap {
  Vector score;        ///< strictly ascending, at least one
  Vector probability;  ///< not decreasing, in [0, 1]

  double operator()(double at) const;
};

/// The non-decreasing function with the least sum_i w_i (y_i - f(s_i))^2, by pooling adjacent violators; rows of equal
/// scores count as one. Knots are the first and the last score of each pool. Some weight must be above 0.
IsotonicMap fit_isotonic(ConstVectorView score, ConstVectorView y, ConstVectorView weight);

}  // namespace ecotone
