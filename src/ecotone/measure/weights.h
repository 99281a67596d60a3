#pragma once

#include "ecotone/linalg/matrix.h"

/// Shapes of importance weights. Weights are finite, not negative and not all 0; there is at least one.
namespace ecotone {

/// The largest weight's part of their sum.
double largest_share(ConstVectorView weights);
/// Divided by their mean.
Vector normalised(ConstVectorView weights);
/// Divided by their mean, cut at `limit`, divided by their mean again.
Vector clipped(ConstVectorView weights, double limit);

/// Weights of mean 1, and the power that they were raised to.
struct Flattened {
  Vector weights;
  double exponent = 1;
};

/// Weights e^l raised to the largest exponent in [0, 1] that leaves an effective sample size of at least `ess` rows;
/// 0, and so equal weights, when there are not so many rows. In log space: raw weights may overflow.
Flattened flatten_to_ess(ConstVectorView log_weights, double ess);

}  // namespace ecotone
