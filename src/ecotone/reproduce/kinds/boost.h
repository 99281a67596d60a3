#pragma once

#include "ecotone/reproduce/experiment.h"

namespace ecotone {

/// Kind `boost`: two moons whose target is rotated by an angle (the generator moons). Columns are angles, rows are
/// methods, values are the percentage of misclassified test rows of the target distribution. No fit sees a test row.
///
///     "rows_per_domain": N, "test": N, "angles": ["20", ...], "runs": [{"run": NAME, "select": "max_wtplus" |
///     "min_bound", "candidates": K, "gamma": NUMBER, "rounds": N, "runs": N}],
///     "rows": [{"row": NAME, "method": METHOD, ...}]
///
/// Methods: `svm` (C, gamma: lists; folds: the pair of the highest cross-validated accuracy on the source rows),
/// `dasvm` (C, gamma, rho: lists; the triple of the highest circular accuracy), where both resolve ties by the one
/// nearest to the medians; `adaboost` (rounds; the best of all stumps in each); `daboost` (run: one of the runs; rule:
/// last, eq13, eq14, best, which reads test labels, or vote, the mean of all its runs' f_T / sum beta). A row may have
/// "of": "circular_accuracy" (dasvm; per cent), and "hidden": true: it is used in claims only.
ExperimentKind boost_kind();

/// Kind `boost_figure`: the losses of one angle's run by round, and the regions of its classifiers. Rows
/// are "round from which the target loss stays 0", "first round at which the source loss is 0", "round from which the
/// source loss stays 0" (rounds and one where it never is), "source region, % right" and "target region, % right", over
/// a fine grid of the half annuli.
///
///     "rows_per_domain": N, "angle": TEXT, "run": {as above, without a name}
ExperimentKind boost_figure_kind();

}  // namespace ecotone
