#pragma once

#include "ecotone/reproduce/experiment.h"

namespace ecotone {

/// Kind `choice`: what choosing a candidate without the target's labels costs. Rows are the scorers and "no
/// adaptation", the first candidate. Every data set has three columns: `NAME regret` (to the best candidate, in the
/// units of its metric), `NAME gain` (over no adaptation) and `NAME rank` (rank correlation of estimates and true
/// scores). Values are those of the targets: each domain in turn.
///
///     "data": [{"data": NAME, "metric": NAME, "candidates": [TEXT],                       texts may be grids
///               "generator": NAME, "options": {NAME: TEXT}}],                             drawn, or read:
///              {..., "file": PATH, "label": NAME, "domain": NAME, "task": "classify" | "regress", "ignore": [NAME],
///               "where": [TEXT]}]
ExperimentKind choice_kind();

}  // namespace ecotone
