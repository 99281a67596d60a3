#pragma once

#include <string>
#include <string_view>

#include "ecotone/base/index.h"

namespace ecotone {

/// Text that is safe for a terminal: control characters are replaced, so that names in a file cannot control it.
std::string printable(std::string_view text);
/// The same for a line of a table: line breaks and tabs are written as `\\n` and `\\t`.
std::string one_line(std::string_view text);

/// "1 row", "2 rows".
std::string counted(Index count, std::string_view one);

}  // namespace ecotone
