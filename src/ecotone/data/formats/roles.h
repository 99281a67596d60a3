#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/data/formats/read_options.h"

namespace ecotone {

/// Columns that `label` adds to a table: what was answered, why the row was asked and with what probability. They are
/// no features unless they are named as such.
inline constexpr std::string_view labelling_columns[] = {"ecotone_why", "ecotone_probability", "ecotone_answer"};

/// The columns of a table by role; -1: none.
struct ColumnRoles {
  Index label = -1;
  Index domain = -1;
  Index weight = -1;
  Index group = -1;
  Index time = -1;
  std::vector<Index> features;  ///< in the table's order
};

/// Position of a column. If there is none: data error `unknown_column`, with a suggestion and the first names.
Index find_column(const std::vector<std::string>& names, const std::string& name, const std::string& origin);

/// The roles given by the names in the options. Option error `column_twice` if a column would have two.
ColumnRoles resolve_roles(const std::vector<std::string>& names, const ReadOptions& options, const std::string& origin);

/// The same for data of a model, whose columns must be in the table: these are the features, in the model's order. The
/// label, the domain and the weight are the columns that the options name, otherwise those of the model if the table
/// has them; there are no others.
ColumnRoles resolve_model_roles(const std::vector<std::string>& names, const Schema& schema, const ReadOptions& options,
                                const std::string& origin);
/// Option error `column_twice` if the options give a feature of the model another role, for formats whose columns are
/// matched by position: taking one out would move the others.
void refuse_features_as_roles(const Schema& schema, const ReadOptions& options);

/// "a, b, c, ...": at most eight names.
std::string some_names(const std::vector<std::string>& names);
/// "'a', 'b', 'c', ...": at most eight names.
std::string quoted_names(std::vector<std::string> names);

}  // namespace ecotone
