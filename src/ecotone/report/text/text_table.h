#pragma once

#include <string>
#include <vector>

#include "ecotone/base/index.h"

namespace ecotone {

/// A table for a terminal, before it is laid out.
struct TextTable {
  struct Column {
    std::string head;
    bool left = false;  ///< words stand left, numbers right
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> lines;  ///< one cell per column

  /// Heads, a rule and the lines; every line ends with a line end.
  std::string text() const;
};

}  // namespace ecotone
