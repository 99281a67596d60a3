#pragma once

#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// The candidates with one that does not adapt in front: if the first one has a plain counterpart (guard.h), that is
/// moved there or added, and a note says so. A pipeline that adapts and has none stays in front, which a note also
/// reports.
std::vector<Pipeline> plain_first(std::vector<Pipeline> candidates, Task task, const Context& context);

}  // namespace ecotone
