#include "cli/command_text.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>

namespace ecotone::cli {
namespace {

/// A word as a shell reads it back.
std::string shell_word(const std::string& word) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("_-./=,:+@%", c) != nullptr; };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

std::string command_text(const std::vector<std::string>& words) {
  constexpr std::string_view alone[] = {"--json", "-q", "--quiet", "--timing"};
  constexpr std::string_view with_value[] = {"--threads", "--report", "--save-predictions", "--resume", "--title",
                                             "--output",  "-o",       "--intended-use"};
  const auto named = [](const std::string& word, std::string_view flag) {
    return word == flag || (word.starts_with(flag) && word.substr(flag.size()).starts_with('='));
  };
  std::string text = "ecotone";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (std::ranges::find(alone, word) != std::end(alone)) continue;
    const auto found = std::ranges::find_if(with_value, [&](std::string_view flag) { return named(word, flag); });
    if (found != std::end(with_value)) {
      if (word == *found) ++i;
      continue;
    }
    text += ' ';
    text += shell_word(word);
  }
  return text;
}

}  // namespace ecotone::cli
