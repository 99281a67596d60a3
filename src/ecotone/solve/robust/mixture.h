#pragma once

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Mixtures of units (domains or rows): shares p_u r_u with 0 <= r_u <= cap and sum 1, where p are shares that sum
/// to 1. cap = 1: only p itself; a large cap: every mixture.
struct MixtureSet {
  Vector share;  ///< p
  double cap = 1;
};

/// The mixture with the largest mean of these losses: the units of largest loss at the cap, the last one in part. Ties
/// go to the unit that comes first.
Vector worst_mixture(const MixtureSet& set, ConstVectorView losses);

/// The r that maximises sum p_u (r_u loss_u - mu/2 (r_u - centre_u)^2) over the set: clip(centre + (loss - t) / mu).
Vector nearest_mixture(const MixtureSet& set, ConstVectorView losses, ConstVectorView centre, double mu);

}  // namespace ecotone
