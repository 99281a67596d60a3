#pragma once

#include "ecotone/reproduce/experiment.h"

namespace ecotone {

/// Kind `domain_splits`: some domains of a table train, the others test, over and over; grids are chosen within the
/// training domains alone.
///
///     "data": [{"data": NAME, "file": FILE, "label": COLUMN, "domain": COLUMN, "ignore": [...], "where": [...]}],
///     "train_domains": N, "folds": K, "tuning_rows": N, "test_rows": N,
///     "columns": [{"column": NAME, "data": NAME, "rows_per_domain": N, "learner": PIPELINE, "stages_of": COLUMN}],
///     "rows": [{"row": NAME, "stages": PIPELINE | "pipeline": PIPELINE, "in": {COLUMN: PIPELINE}}]
///
/// Every repetition draws `train_domains` domains, and of each `rows_per_domain` rows (all without it); 0 train domains
/// leave out each domain in turn, and every domain is a value of its own. A row's pipeline is its stages with the
/// column's learner behind them, or given whole. Of a grid the point of the best mean of the metric over K folds of
/// training domains is fitted on all training rows; with `tuning_rows` the choice sees at most so many rows of each
/// domain. With `stages_of` the stages are those that were chosen in another column of the same data and rows, and only
/// the learner is chosen. Values are the metric on all rows of the test domains together, or on `test_rows` of each.
/// The chart shows every column's values, or those of each domain.
ExperimentKind domain_splits_kind();

}  // namespace ecotone
