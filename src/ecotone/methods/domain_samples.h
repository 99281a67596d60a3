#pragma once

#include <string>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/solve/alignment/group_moments.h"

namespace ecotone {

/// How far the statistics of one domain are from what all domains share: means over the columns that vary within
/// domains.
struct SampleDistance {
  double moved = 0;   ///< |m~ - m0| / sqrt(v0)
  double spread = 1;  ///< s~ / sqrt(v0)
};

/// Of a domain with this m~ and s~.
SampleDistance sample_distance(const MomentPrior& prior, ConstVectorView mean, ConstVectorView deviation);
/// Of every group, shrunk.
std::vector<SampleDistance> sample_distances(const MomentPrior& prior, const std::vector<GroupMoments>& groups,
                                             const Shrinkage& shrinkage);

/// `samples` of a state, which inspect shows: domain, rows, moved and spread of each domain.
void save_samples(const std::vector<std::string>& names, const Vector& rows,
                  const std::vector<SampleDistance>& distances, StageState& state);
/// `samples` of a state with this many domains. File error `bad_model`.
std::vector<SampleDistance> load_samples(const StageState& state, Index count);

}  // namespace ecotone
