#pragma once

#include "ecotone/reproduce/experiment.h"

/// What is said about a new domain, checked: each domain in turn is the new one, and its labels only judge.
///
/// All three have data sets, read or drawn as those of the kind `choice`:
///
///     "data": [{"data": NAME, "column": NAME, "task": "classify" | "regress", "pipelines": [TEXT],
///               "generator": ... or "file": ..., "draws": N, "last": true}]
///
/// Data of one column are judged together. "draws": how often data are drawn anew; "last": only the last domain is the
/// new one.
namespace ecotone {

/// Kind `expected`: accuracy, or the root mean squared error, that `expect` expects. Rows are the estimators and
/// "default"; columns are `COLUMN covered` (in per cent of the new domains), `COLUMN error` (in points, or per cent of
/// the RMSE) and `COLUMN width` (likewise, from end to end), and `all covered` over all columns that are not drawn.
ExperimentKind expected_kind();

/// Kind `sets`: sets of the stage `conformal`. Rows are the methods in "methods"; columns `COLUMN coverage` (in per
/// cent) and `COLUMN size`; a method that promises nothing finite there has no cell.
///
///     "methods": [TEXT], "level": NUMBER
ExperimentKind sets_kind();

/// Kind `class_shares`: what the stage `adapt.prior` gains. Rows are "none", "always" and "replay"; columns are the
/// accuracy in per cent, `COLUMN corrected` in how many of the new domains it corrects.
ExperimentKind class_shares_kind();

}  // namespace ecotone
