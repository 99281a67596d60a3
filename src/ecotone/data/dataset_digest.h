#pragma once

#include "ecotone/base/context.h"
#include "ecotone/base/digest.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// A hash of everything in a data set: features, labels, domains, weights, groups, times, names and row numbers. Equal
/// for the same values in memory, in a mapped file and streamed. Reads the features once, in parallel.
Digest digest_of(const Dataset& data, const Context& context);

}  // namespace ecotone
