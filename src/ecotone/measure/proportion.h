#pragma once

#include "ecotone/base/index.h"

namespace ecotone {

struct ProportionInterval {
  double low = 0;
  double high = 1;
};

/// The interval for a probability from `successes` of `trials`, by the mid-p binomial test: the probabilities p at
/// which P(X > successes) + P(X = successes) / 2 lies between (1 - level) / 2 and (1 + level) / 2. It covers about
/// `level` on average, where the exact interval covers more. 0 <= successes <= trials, trials >= 1, 0 < level < 1.
ProportionInterval mid_p_interval(Index successes, Index trials, double level);

}  // namespace ecotone
