#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/schema.h"
#include "ecotone/methods/sums/row_sums.h"

/// Sums over few rows come close to the rows themselves; over one row they are the row.
namespace ecotone {

/// Data error `small_domain` for a domain, or a class of a domain, of fewer rows.
void require_many_rows(const RowSums& sums, int min_rows);

/// Products with a column of two values, such as that of a category, are sums over the rows that have one of them. Data
/// error `small_category` for such a value that fewer rows of a domain have. The view is of these columns, or of what a
/// model that was given with --behind made of them. Returns how many rows have the rarest of such values; all rows,
/// where no column has two.
Index require_common_values(const TrainView& view, const Schema& schema, bool behind, int min_rows,
                            const Context& context);

/// The same of labels that are numbers, with which every column has products.
Index require_common_labels(const TrainView& view, int min_rows);

/// Warning `few_rows`: with fewer rows than columns, the products of columns nearly say the rows.
void warn_of_small_domains(const RowSums& sums, const Context& context);

}  // namespace ecotone
