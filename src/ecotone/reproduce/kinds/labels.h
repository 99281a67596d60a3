#pragma once

#include "ecotone/reproduce/experiment.h"

namespace ecotone {

/// Kind `labels`: how many labels strategies of active learning need. Columns are generated problems, rows are
/// strategies. A repetition is a draw of each problem and several simulated runs on it (label/simulate.h); the value is
/// the median over these runs of the labels from which the accuracy stays at `reach` times that with all labels. Runs
/// that do not come so far within the budget count as the budget.
///
///     "pipeline": TEXT, "runs": N, "reach": NUMBER, "test_share": NUMBER,
///     "columns": [{"column": NAME, "generator": NAME, "options": {NAME: TEXT}, "budget": N}],
///     "rows": [{"row": NAME, "strategy": TEXT}]
///
/// A row may have "minus": ROW with "times": NUMBER (the value less this multiple of that row's), or "failed": true
/// (the value is the percentage of runs that do not come so far). A row with "full": true in place of a strategy is the
/// accuracy with all labels, in per cent. The pictures are the learning curves of the first repetition.
ExperimentKind labels_kind();

}  // namespace ecotone
