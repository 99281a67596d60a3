#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/index.h"
#include "ecotone/data/formats/read_options.h"

namespace ecotone {

/// Which column of a table is what; -1: none.
struct ColumnRoles {
  Index label = -1;
  Index domain = -1;
  Index weight = -1;
  std::vector<Index> features;  ///< in the table's order
};

/// Place of a column; the data error `unknown_column` with a suggestion and the first names when there is none.
Index find_column(const std::vector<std::string>& names, const std::string& name, const std::string& origin);

/// Roles by the options' names. Option error `column_twice` when a column would have two.
ColumnRoles resolve_roles(const std::vector<std::string>& names, const ReadOptions& options, const std::string& origin);

/// «a, b, c, ...»: at most eight names.
std::string some_names(const std::vector<std::string>& names);
/// «'a', 'b', 'c', ...»: at most eight names.
std::string quoted_names(std::vector<std::string> names);

}  // namespace ecotone
