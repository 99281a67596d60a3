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

/// Flags to leave out of a text: switches, flags with their values, and flags whose values are left out alone.
struct LeftOut {
  std::vector<std::string_view> alone, with_value, value_alone;
};

std::string text_without(const LeftOut& left_out, const std::vector<std::string>& words) {
  const auto flag_of = [](const std::vector<std::string_view>& flags, const std::string& word) {
    return std::ranges::find_if(flags, [&](std::string_view flag) {
      return word == flag || (word.starts_with(flag) && word.substr(flag.size()).starts_with('='));
    });
  };
  std::string text = "ecotone";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (std::ranges::find(left_out.alone, word) != left_out.alone.end()) continue;
    if (const auto flag = flag_of(left_out.with_value, word); flag != left_out.with_value.end()) {
      if (word == *flag) ++i;
      continue;
    }
    text += ' ';
    if (const auto flag = flag_of(left_out.value_alone, word); flag != left_out.value_alone.end()) {
      if (word == *flag) ++i;
      text += *flag;
    } else {
      text += shell_word(word);
    }
  }
  return text;
}

}  // namespace

std::string command_text(const std::vector<std::string>& words) {
  return text_without(
      {{"--json", "-q", "--quiet", "--timing"},
       {"--threads", "--report", "--save-predictions", "--resume", "--title", "--output", "-o", "--intended-use"},
       {}},
      words);
}

std::string shared_command_text(const std::vector<std::string>& words, const std::vector<std::string>& data) {
  std::vector<std::string> shared = words;
  for (std::string& word : shared)
    if (std::ranges::find(data, word) != data.end()) word = "DATA";
  return text_without({{"-q", "--quiet", "--timing"},
                       {"--threads"},
                       {"--report", "--save-predictions", "--resume", "--title", "--output", "-o", "--intended-use"}},
                      shared);
}

}  // namespace ecotone::cli
