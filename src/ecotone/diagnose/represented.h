#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// The data set with the features that a pipeline produces: the pipeline is fitted on the rows (those of `targets`
/// without labels) and transforms all rows. Labels and domains stay. Option error `unexpected_learner` when the
/// pipeline predicts; data errors `unknown_domain`, `no_labels` if a pipeline that needs labels gets none,
/// `no_features` if it leaves no feature.
Dataset represented(const Dataset& data, const Pipeline& pipeline, const std::vector<std::string>& targets,
                    const Context& context);

/// Refuses a pipeline that predicts, as `represented` does, but before any data are read.
void require_representation(const Pipeline& pipeline);

}  // namespace ecotone
