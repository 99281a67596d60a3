#pragma once

#include <vector>

#include "ecotone/evaluate/contenders.h"
#include "ecotone/evaluate/evaluate.h"

namespace ecotone {

/// The level of the intervals for the next domain.
inline constexpr double next_domain_level = 0.9;
/// With more domains, replays that have seen a domain are nearly as good, and the fits would be many.
inline constexpr Index most_replayed_domains = 20;
/// Fewer cannot be replayed: a model without two domains needs a third.
inline constexpr Index fewest_replayed_domains = 3;

/// Adds to each pipeline where its metrics are expected in the next domain: the mean, and around it t(K - 1) times the
/// root of the mean of r_k^2. r_k is what domain k scored minus what the others would have led one to expect of it: the
/// mean over j of what models without j and k score in j (replay), or models without j alone (cheap). Only where
/// domains are held out one by one, and there are at least three. Outsiders, pipelines that adapt and, unless replays
/// are asked for, grids have the cheap one.
void add_next_domain(Evaluation& evaluation, const Dataset& data, const std::vector<Contender>& contenders,
                     const EvaluateOptions& options, const Context& context);

}  // namespace ecotone
