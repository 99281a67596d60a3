#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// The method whose scores a pipeline turns into probabilities of classes by a convention (methods/binary_prediction.h)
/// alone; null if it has probabilities of its own.
const Method* without_probabilities(const Pipeline& pipeline);

/// The metric that chooses among these pipelines: `asked`, or choice_metric of the task. If that is log_loss and a
/// pipeline has no probabilities of its own, it is auroc for two classes and accuracy for more: the log loss of a
/// convention says little about the fit.
std::string metric_of_choice(const std::string& asked, const std::vector<Pipeline>& points, const Labels& y);

/// A note where the metric is not choice_metric of the task although none was asked for. `flag` names one.
void note_metric(const char* who, const char* flag, const std::string& asked, const std::vector<Pipeline>& points,
                 const Labels& y, const Context& context);

}  // namespace ecotone
