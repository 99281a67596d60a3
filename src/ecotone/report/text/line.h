#pragma once

#include <string>
#include <string_view>

#include "ecotone/base/index.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {

/// Printable text for a line of a table: line breaks and tabs are written as `\\n` and `\\t`.
std::string one_line(std::string_view text);

/// "1 row", "2 rows".
std::string counted(Index count, std::string_view one);

}  // namespace ecotone
