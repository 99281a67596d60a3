#pragma once

#include "ecotone/solve/ratios/density_ratio.h"

namespace ecotone {

/// How well a classifier separates held-out source rows from target rows: the AUROC over 5 folds, of at most 5,000 rows
/// of each sample, drawn with the seed. 1/2: not at all. Empty if a sample has a single row or group.
std::optional<double> domain_auroc(const Features& x, Index sources, const RatioOptions& options,
                                   const Context& context);

}  // namespace ecotone
