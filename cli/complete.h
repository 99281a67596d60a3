#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

/// What a shell offers when the user asks it to complete a command. The scripts of `ecotone completion` hand the
/// unfinished command to the program (`ecotone __complete`), so they know nothing themselves and cannot go stale.
namespace ecotone::cli {

inline constexpr std::string_view completion_request = "__complete";

/// A word that would fit at the end of the command, with a few words about it.
struct Completion {
  std::string word;
  std::string help = {};
};

struct Completions {
  std::vector<Completion> words;
  bool files = false;  ///< names of files would fit, too
};

/// What fits in place of the last word of an unfinished command, given up to the cursor, quotes included. Column names
/// come from the CSV files that it names.
Completions complete(const CommandLine& line, std::string_view command);

/// The last word, without its quotes; what completions begin with.
std::string last_word(std::string_view command);

/// The answer to a script: a word a line, a tab and its description, and `:files` where files fit, too. `replaced` is
/// the end of the last word that the shell puts it in place of: all of it, or what follows the `=` of `--label=`.
std::string completions_text(const CommandLine& line, std::string_view command, std::string_view replaced);

}  // namespace ecotone::cli
