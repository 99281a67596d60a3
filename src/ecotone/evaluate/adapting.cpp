#include "ecotone/evaluate/adapting.h"

#include <algorithm>

#include "ecotone/methods/learn/conformal/conformal.h"

namespace ecotone {

namespace {

bool stage_adapts(const Stage& stage) {
  return stage.method->adapts() || (stage.method->name == "conformal" && weights_to_target(stage.options));
}

}  // namespace

bool adapts(const Pipeline& pipeline) { return std::ranges::any_of(pipeline.stages(), stage_adapts); }

}  // namespace ecotone
