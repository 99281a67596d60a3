#pragma once

#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// Whether a stage adapts to the target: one of the family weight or adapt, or sets that are weighted to its rows.
bool adapts(const Pipeline& pipeline);

}  // namespace ecotone
