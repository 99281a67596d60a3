#pragma once

#include "ecotone/reproduce/experiment.h"

namespace ecotone {

/// Kind `shift`: columns are generators whose data have the domains source, target and test; rows are pipelines. Each
/// is fitted on the source rows with the target's features and scored on the test rows, which no fit sees. The first
/// row is its error in points (per cent of the rows); the others are the differences from it, paired per repetition.
///
///     "columns": [{"column": NAME, "generator": NAME, "options": {NAME: TEXT}}],
///     "rows": [{"row": NAME, "pipeline": TEXT, "in": {COLUMN: TEXT}}]      options and in may be left out
///
/// A row may have "guard": true (fitted by guarded_fit), with it "declined": true (the value is the share of
/// repetitions, in per cent, where the plain pipeline was taken), and "minus": ROW with "times": NUMBER (the difference
/// from the first row, less this multiple of that row's).
ExperimentKind shift_kind();

}  // namespace ecotone
