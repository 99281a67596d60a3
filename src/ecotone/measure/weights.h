#pragma once

#include "ecotone/linalg/matrix.h"

/// Transformations of importance weights. Weights are finite, nonnegative and not all 0; there is at least one.
namespace ecotone {

/// The share of the largest weight in the sum.
double largest_share(ConstVectorView weights);
/// The weights divided by their mean.
Vector normalised(ConstVectorView weights);
/// The weights divided by their mean, cut at `limit`, then divided by their mean again.
Vector clipped(ConstVectorView weights, double limit);

/// Weights of mean 1, and the power that they were raised to.
struct Flattened {
  Vector weights;
  double exponent = 1;
};

/// Weights e^l raised to the largest exponent in [0, 1] that leaves an effective sample size of at least `ess` rows; 0,
/// that is equal weights, when there are not so many rows. Computed in log space, because raw weights may overflow.
Flattened flatten_to_ess(ConstVectorView log_weights, double ess);

}  // namespace ecotone
