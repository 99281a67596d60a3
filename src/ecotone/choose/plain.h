#pragma once

#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// Whether a stage adapts to the target: one of the family weight or adapt.
bool adapts(const Pipeline& pipeline);

/// The candidates with one in front that does not adapt: when the first one adapts, its plain counterpart, which is
/// moved there or added; a note says so. A pipeline that has no counterpart stays in front, which a note says, too.
std::vector<Pipeline> plain_first(std::vector<Pipeline> candidates, const Context& context);

}  // namespace ecotone
