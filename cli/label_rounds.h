#pragma once

#include <string>

#include "cli/label.h"

/// Rounds by spreadsheet: questions out, answers in.
namespace ecotone::cli {

/// `--queries`: writes the next `count` questions as CSV: row (from 1), id, domain, the features as they stand in the
/// files, and an empty column `answer`. Why a row is asked and what the model believes are not told, so that audits
/// look like all others. A round replaces the one before.
void write_queries(const LabelWork& work, const std::string& path, Index count);

/// `--answers`: stores the column `answer` of a CSV file with a column `row`; empty: no answer; `unsure` and `skip` are
/// what they say. All are checked before the first is stored. Data errors, with the line: `bad_row`, `repeated_row`,
/// `not_asked`, `answered`, `bad_label`. Gives how many were stored.
Index store_answers(const LabelWork& work, const std::string& path);

}  // namespace ecotone::cli
