#pragma once

#include <string>
#include <vector>

namespace ecotone::cli {

/// The words of a command line as one text that a shell reads back, without flags that change no result: where it is
/// written, how it looks, how fast it is.
std::string command_text(const std::vector<std::string>& words);

/// What must be the same for all ranks: all words but the names of data files, which stand for themselves, of files
/// that are written, and how fast and how loudly it is done. Whether something is written may decide what is computed.
std::string shared_command_text(const std::vector<std::string>& words, const std::vector<std::string>& data);

}  // namespace ecotone::cli
