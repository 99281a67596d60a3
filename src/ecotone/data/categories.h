#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"

/// The two forms of a categorical column, one feature per level and one of codes, and the way from one to the other.
namespace ecotone {

/// The text of a code; empty for NaN and anything else that is no code of these levels.
std::string_view level_text(const std::vector<std::string>& levels, double code);

/// The schema with every categorical column as codes.
Schema with_codes(Schema schema);
/// Features of this schema with every categorical column as one of codes: the index of its level, NaN where all levels
/// are 0. The features themselves if the schema has no level.
Features to_codes(const Features& x, const Schema& schema, const Context& context);
/// A data set in this form.
Dataset to_codes(Dataset data, const Context& context);
/// A data set with every categorical column as one feature per level. Data error `too_many_levels` for codes of more
/// than `most_levels` levels, `duplicate_column` if two features would have the same name.
Dataset to_levels(Dataset data, const std::string& origin, const Context& context);
/// The same without the columns that have too many levels, which a note names: for comparisons of columns.
Dataset levels_to_compare(Dataset data, const Context& context);

/// These columns of a data set, by their place in the schema.
Dataset take_columns(Dataset data, const std::vector<Index>& columns, const Context& context);

/// A value in a column of codes that is neither NaN nor the index of a level: the first in row order; row = -1: none.
struct BadCode {
  Index row = -1;
  std::size_t column = 0;  ///< of the schema
  double value = 0;
};
BadCode find_bad_code(const Features& x, const Schema& schema, const Context& context);

/// The warning `unseen_category` for rows with a category that a model does not know; nothing for none.
void warn_unseen_rows(const std::string& column, Index rows, const Context& context);

}  // namespace ecotone
