#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/base/random.h"
#include "ecotone/measure/intervals.h"

namespace ecotone {

/// How often each of `units` is drawn when as many are drawn with replacement.
std::vector<double> resample_counts(Index units, Random random);

/// The 2.5% and 97.5% percentiles of a statistic over resamples, NaN where it is undefined, extended to its value in
/// the sample itself, which a statistic that resampling shifts (such as the calibration error) may leave. Undefined if
/// more than a tenth of the resamples have no value.
std::optional<Bounds> percentile_bounds(std::span<const double> resampled, double value);

}  // namespace ecotone
