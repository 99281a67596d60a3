#pragma once

#include <string>
#include <vector>

namespace ecotone::cli {

/// The words of a command line as one text that a shell reads back, without flags that change no result: where it is
/// written, how it looks, how fast it is.
std::string command_text(const std::vector<std::string>& words);

}  // namespace ecotone::cli
