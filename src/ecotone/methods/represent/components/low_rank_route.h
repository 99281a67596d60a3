#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ecotone/methods/represent/components/component_outputs.h"

namespace ecotone {

/// The rows of a fit: features, domains counted from 0, and labels where they are read.
struct LowRankFitRows {
  const Features& x;
  std::span<const std::int32_t> group;
  Index groups = 1;
  const Labels& y;
  const ChosenOutput* output = nullptr;  ///< null: without labels
};

/// Fits the map, sums over the rows in blocks and solves the reduced problem. Fills the report; warns if the map is too
/// rough (`rough_map`) and notes if there are fewer landmarks than asked for.
LowRankProjection low_rank_route(const ComponentKind& kind, const LowRankFitRows& rows, const Kernel& kernel,
                                 const ComponentStageOptions& options, const ComponentOptions& solver,
                                 ComponentReport& report, const Context& context);

}  // namespace ecotone
