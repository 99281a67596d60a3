#pragma once

#include <vector>

#include "ecotone/evaluate/columns/column_effects.h"
#include "ecotone/evaluate/columns/shuffled_column.h"

namespace ecotone {

/// Fills in where the curves of the columns have points, and the curves. `places` are those of the effects' columns.
void add_dependence(ColumnEffects& effects, const std::vector<ColumnPlace>& places, const Model& model,
                    const Dataset& data, const EffectOptions& options, const Context& context);

}  // namespace ecotone
