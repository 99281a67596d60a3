#pragma once

#include "ecotone/reproduce/experiment.h"

namespace ecotone {

/// Kind `records`: what adapting to each domain in turn gave, by method. Rows are those of the recipe, the first of
/// which does not adapt, and "guard", which takes one of them without the target's labels, as `--choose auto` does.
/// Every data set has two columns: `NAME`, the mean score over its domains (accuracy in per cent, or the root mean
/// squared error), and `NAME worst`, the points gained in the domain that gained least (of accuracy, or per cent of the
/// first row's error). Claims may also be about `NAME gain`, the points between the means of a row and of the first.
/// `better`, `equal` and `worse` count the domains of all data sets against the first row, `adapted` those in which the
/// guard took another row than the first.
///
///     "rows": [{"row": NAME, "pipeline": TEXT, "task": "classify" | "regress"}],   @ is the learner; task: only there
///     "data": [{"data": NAME, "task": ..., "before": TEXT, "learner": TEXT, "rows": NUMBER,
///               "generator" ... or "file" ...}]                                    as in the kind `choice`
ExperimentKind records_kind();

}  // namespace ecotone
