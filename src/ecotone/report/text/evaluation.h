#pragma once

#include <string>
#include <string_view>

#include "ecotone/evaluate/evaluate.h"

namespace ecotone {

/// The metric that a table shows by default: auroc, or accuracy if auroc is undefined everywhere; rmse for regression.
std::string headline_metric(const Evaluation& evaluation);

/// An evaluation as a table for a terminal of 100 columns: one line per held-out domain and one column per pipeline for
/// one metric (empty: the headline), then mean, spread and the paired differences from the first pipeline in words.
/// Pipelines too long for a column head are lettered, with a legend above. Option error `unknown_metric` when the
/// evaluation does not have the metric.
std::string evaluation_table(const Evaluation& evaluation, std::string_view metric = {});

}  // namespace ecotone
