#include "ecotone/evaluate/adapting.h"

#include <algorithm>

namespace ecotone {

bool adapts(const Pipeline& pipeline) {
  return std::ranges::any_of(pipeline.stages(), [](const Stage& stage) { return stage.method->adapts(); });
}

}  // namespace ecotone
