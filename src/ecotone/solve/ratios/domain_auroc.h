#pragma once

#include "ecotone/solve/ratios/density_ratio.h"

namespace ecotone {

/// How well a classifier tells rows of the source from rows of the target that it has not seen: the AUROC over 5 folds,
/// of at most 5,000 rows of each sample, drawn by the seed. 1/2: it cannot. Empty when a sample has a single row.
std::optional<double> domain_auroc(const Features& x, Index sources, const RatioOptions& options,
                                   const Context& context);

}  // namespace ecotone
