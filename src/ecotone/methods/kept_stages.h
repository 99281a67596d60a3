#pragma once

#include "ecotone/methods/fit_cache.h"

namespace ecotone {

/// Lets a cache continue after another one, both in order, on the same view with the same seed: fits reuse the leading
/// stages of the last pipeline, but do not begin where its learner stopped. So their results do not depend on the fits
/// before.
void keep_stages(FitCache& from, FitCache& to);

/// The part of it that concerns refits.
void keep_refits(FitCache& from, FitCache& to);

}  // namespace ecotone
