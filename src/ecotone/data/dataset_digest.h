#pragma once

#include "ecotone/base/context.h"
#include "ecotone/base/digest.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// A hash of everything in a data set: features, labels, domains, weights, groups, times, names and row numbers. Equal
/// for the same values in memory, in a mapped file and streamed. Reads the features once, in parallel.
Digest digest_of(const Dataset& data, const Context& context);

/// The same of everything but the values of features, without a look at them.
Digest digest_beside_features(const Dataset& data);

/// A hash of the values of blocks [first, last) of features: the same in memory, in a mapped file and streamed. Reads
/// these blocks once, in parallel; of sparse rows their entries.
Digest digest_of_blocks(const Features& x, Index first, Index last, const Context& context);

}  // namespace ecotone
