#pragma once

#include "ecotone/reproduce/experiment.h"

namespace ecotone {

/// Kind `projections`: what stages make of generated training domains and of domains that they have not seen.
///
///     "generator": NAME, "options": {NAME: TEXT}, "train_domains": N, "neighbours": K,
///     "rows": [{"row": NAME, "stages": PIPELINE}], "drawn": [ROW, ...]
///
/// The generator draws numbers as labels; its first domains train and the others test. Columns, all without a unit:
/// "distributional variance", the variance of the means of all domains over the variance of the training rows; "test
/// mean shift", the squared distance of the means of test domains from that of the training rows over the same
/// variance; "KS", the Kolmogorov-Smirnov distance of test domains from the training rows, mean over components; "R2",
/// of K nearest neighbours among the training rows on the test rows. Variances and distances are sums over components.
/// The first two components of the rows `drawn` are shown for the training rows and the test domains.
ExperimentKind projections_kind();

}  // namespace ecotone
