#pragma once

#include "ecotone/data/formats/csv/table.h"
#include "ecotone/data/formats/csv/values.h"

namespace ecotone {

/// Makes columns of the table that do not hold numbers columns of dates where all their texts are dates, and of text
/// otherwise.
void settle_text(const CsvTable& table, CsvColumns& columns, const std::vector<Index>& found, const Context& context);

/// Guesses the kinds of the columns from the first run of records: text unless it is a number.
void sniff(const CsvTable& table, CsvColumns& columns, const Context& context);

/// Whether a column of times holds numbers or dates, by its first value; a wrong value further down is found when it is
/// read.
Column time_form(const CsvTable& table, Index column, const Context& context);

/// Collects the levels of the categorical inputs that have none yet. Columns with too many are left out where they look
/// like ids, and an error otherwise unless they are codes.
void find_levels(const CsvTable& table, CsvColumns& columns, const Context& context);

/// Warns of columns that are text because of a few texts among numbers or dates.
void warn_almost(const CsvTable& table, const CsvColumns& columns, const CsvValues& values, const Context& context);

}  // namespace ecotone
