#pragma once

#include <string>
#include <vector>

#include "ecotone/base/options.h"

namespace ecotone {

/// One line per option: name=default, what it is, what it may be.
std::string option_lines(const std::vector<OptionInfo>& options, std::size_t indent);

/// «must be > 0» without «must be»: «> 0», «one of mean, median»; «any» when anything goes, «true or false» for
/// switches.
std::string range_text(const OptionInfo& option);

}  // namespace ecotone
