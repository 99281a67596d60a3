#pragma once

#include <string>
#include <vector>

#include "ecotone/base/index.h"

namespace ecotone {

/// A table for a terminal, before it is laid out.
struct TextTable {
  struct Column {
    std::string head;
    bool left = false;  ///< text is left-aligned, numbers are right-aligned
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> lines;  ///< one cell per column

  /// Heads, a rule and the lines, each with a newline.
  std::string text() const;
};

}  // namespace ecotone
