#pragma once

#include <string>
#include <vector>

#include "ecotone/base/options.h"

namespace ecotone {

/// A paragraph per option: name=default, meaning, type and range.
std::string option_lines(const std::vector<OptionInfo>& options, std::size_t indent);

/// The range of an option: "> 0", "one of mean, median", "true or false" for switches, or "any" if there is no limit.
std::string range_text(const OptionInfo& option);

}  // namespace ecotone
