#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// The data set as a pipeline's features show it: the pipeline is fitted on the rows, those of `targets` without their
/// labels, and all rows are transformed by it. Labels and domains stay. Option error `unexpected_learner` when the
/// pipeline predicts; data errors `unknown_domain`, `no_labels` when a pipeline that needs labels is left none,
/// `no_features` when it leaves none.
Dataset represented(const Dataset& data, const Pipeline& pipeline, const std::vector<std::string>& targets,
                    const Context& context);

/// Refuses a pipeline that predicts, as `represented` does; before anything is read.
void require_representation(const Pipeline& pipeline);

}  // namespace ecotone
