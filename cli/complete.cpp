#include "cli/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ecotone/data/formats/csv/header.h"
#include "ecotone/methods/registry.h"

namespace ecotone::cli {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// The words of a command as a shell splits them, without quotes and backslashes. The last may be unfinished: inside
/// quotes, or empty after a blank.
std::vector<std::string> split_command(std::string_view command) {
  std::vector<std::string> words(1);
  bool begun = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      words.back() += command[++i];
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      begun = true;
    } else if (quote != 0 || !is_blank(c)) {
      words.back() += c;
    } else if (begun || !words.back().empty()) {
      words.emplace_back();
      begun = false;
    }
  }
  return words;
}

/// The first sentence or clause, short enough for a list.
std::string brief(const std::string& help) { return help.substr(0, help.find_first_of(";:(")); }

const FlagInfo* flag_named(const std::vector<FlagInfo>& flags, const std::string& name) {
  const auto has_name = [&](const FlagInfo& flag) { return std::ranges::find(flag.names, name) != flag.names.end(); };
  const auto found = std::ranges::find_if(flags, has_name);
  return found == flags.end() ? nullptr : &*found;
}

const Method* method_named(const std::string& name) {
  const auto found = std::ranges::find(methods(), name, &Method::name);
  return found == methods().end() ? nullptr : &*found;
}

/// Values that an option of a stage may have, as far as they are known.
std::vector<std::string> words_for(const OptionInfo& option) {
  if (option.type == OptionType::boolean) return {"true", "false"};
  const char* const* choices = option.limits.choices.data();
  std::vector<std::string> words(choices, choices + option.limits.n_choices);
  if (option.type == OptionType::auto_real) words.emplace_back("auto");
  return words;
}

/// The option with its values. There are at least two, which keeps the shell from taking the first for the end of the
/// pipeline and closing its quotes.
std::vector<Completion> with_values(const OptionInfo& option, const std::string& before) {
  const std::string start = before + option.name + "=";
  std::vector<Completion> found;
  for (const std::string& word : words_for(option)) found.push_back({start + word});
  if (found.size() < 2) found = {{start}, {start + option_text(option.default_value), "the default"}};
  return found;
}

/// Where the last stage of a pipeline begins, behind the bar and blanks.
std::size_t last_stage(std::string_view pipeline) {
  std::size_t begin = 0;
  char quote = 0;
  for (std::size_t i = 0; i < pipeline.size(); ++i) {
    if (quote == 0 && pipeline[i] == '|') begin = i + 1;
    if (pipeline[i] == '\'' || pipeline[i] == '"') quote = quote == 0 ? pipeline[i] : quote == pipeline[i] ? 0 : quote;
  }
  while (begin < pipeline.size() && is_blank(pipeline[begin])) ++begin;
  return begin;
}

/// The options of the last stage, or the values of its last option; `before` is what was typed before the last word.
std::vector<Completion> complete_option(const Method& method, const std::string& before, std::string_view typed,
                                        const std::vector<std::string>& words) {
  std::vector<const OptionInfo*> fitting;
  for (const OptionInfo& option : method.options) {
    const std::string start = option.name + "=";
    const auto given = [&](const std::string& word) { return word.starts_with(start); };
    if (typed.starts_with(start)) return with_values(option, before);
    if (start.starts_with(typed) && std::ranges::none_of(words, given)) fitting.push_back(&option);
  }
  if (fitting.size() == 1) return with_values(*fitting.front(), before);
  std::vector<Completion> found;
  for (const OptionInfo* option : fitting) found.push_back({before + option->name + "=", brief(option->help)});
  return found;
}

/// Stages at the end of a pipeline, and options of the last one.
std::vector<Completion> complete_pipeline(const std::string& pipeline) {
  const std::size_t begin = last_stage(pipeline);
  const std::string stage = pipeline.substr(begin);
  std::vector<std::string> words = split_command(stage);
  if (words.size() > 1) {
    const Method* const method = method_named(words.front());
    const std::string typed = words.back();
    words.pop_back();
    if (!method || !pipeline.ends_with(typed)) return {};
    return complete_option(*method, pipeline.substr(0, pipeline.size() - typed.size()), typed, words);
  }
  const std::string before = pipeline.substr(0, begin) + (pipeline.ends_with('|') ? " " : "");
  std::vector<Completion> found;
  for (const Method& method : methods())
    if (method.name.starts_with(stage)) found.push_back({before + method.name, method.summary});
  // A stage that cannot be the last is followed by a bar. As a second word it also keeps the shell from closing the
  // quotes.
  if (found.size() == 1 && !method_named(found.front().word.substr(before.size()))->can_predict())
    found.push_back({found.front().word + " | "});
  return found;
}

/// The command after `ecotone`, as far as it is known.
struct Command {
  std::vector<std::string> words;  ///< without the last
  std::string last;
  std::vector<FlagInfo> flags;  ///< of its verb
  ArgumentWords arguments;
};

/// Whether no shell sees more in a name than text. Bash expands what it completes before it quotes it, so a header with
/// `$(..)` would run.
bool is_inert(std::string_view name) {
  return std::ranges::none_of(name, [](unsigned char c) {
    return c < 0x20 || c == 0x7f || std::string_view("$`\\\"'!").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::vector<std::string> columns_of(const Command& command) {
  const Context context(Context::Settings{.threads = 1});
  std::vector<std::string> columns;
  for (const std::string& word : command.words)
    for (std::string& column : csv_columns(word, context))
      if (is_inert(column) && std::ranges::find(columns, column) == columns.end()) columns.push_back(std::move(column));
  return columns;
}

/// Names of columns in place of `typed`; of a list only the last is completed, by one that it does not hold yet.
std::vector<Completion> complete_columns(const Command& command, const std::string& typed, bool list) {
  const std::size_t begin = list ? typed.rfind(',') + 1 : 0;
  const std::string before = typed.substr(0, begin);
  std::vector<Completion> found;
  for (const std::string& column : columns_of(command))
    if (("," + before).find("," + column + ",") == std::string::npos) found.push_back({before + column});
  return found;
}

Completions complete_value(const Command& command, const FlagInfo& flag, const std::string& typed) {
  Completions found;
  for (const std::string& value : flag.values) found.words.push_back({value});
  if (flag.shown.starts_with("COLUMN")) found.words = complete_columns(command, typed, flag.shown.ends_with(",.."));
  if (flag.shown == "TEST") found.words = complete_columns(command, typed, false);
  if (flag.shown == "PIPELINE") found.words = complete_pipeline(typed);
  for (const char* file : {"FILE", "MODEL", "DIR"}) found.files = found.files || flag.shown.starts_with(file);
  return found;
}

Completions complete_argument(const Command& command) {
  if (command.arguments.files && command.arguments.words == method_names())
    return {complete_pipeline(command.last), command.last.find('|') == std::string::npos};
  Completions found{{}, command.arguments.files};
  for (const std::string& word : command.arguments.words) found.words.push_back({word});
  return found;
}

Completions complete_of_verb(const Command& command) {
  const FlagInfo* const before = flag_named(command.flags, command.words.back());
  if (before && before->takes_value) return complete_value(command, *before, command.last);
  const std::size_t equals = command.last.find('=');
  if (command.last.starts_with("--") && equals != std::string::npos) {
    const FlagInfo* const flag = flag_named(command.flags, command.last.substr(0, equals));
    Completions found = flag ? complete_value(command, *flag, command.last.substr(equals + 1)) : Completions{};
    for (Completion& each : found.words) each.word.insert(0, command.last.substr(0, equals + 1));
    return found;
  }
  if (!command.last.starts_with('-')) return complete_argument(command);
  Completions found;
  for (const FlagInfo& flag : command.flags)
    for (const std::string& name : flag.names) found.words.push_back({name, brief(flag.help)});
  return found;
}

/// Verbs, and what may stand in their place.
Completions complete_verb(const CommandLine& line) {
  Completions found;
  for (const Verb& verb : line.verbs()) found.words.push_back({verb.name, verb.summary});
  for (const char* word : {"help", "version", "--help", "--version"}) found.words.push_back({word});
  return found;
}

}  // namespace

Completions complete(const CommandLine& line, std::string_view command) {
  std::vector<std::string> words = split_command(command);
  Command typed{{}, words.back(), {}, {}};
  words.pop_back();
  if (!words.empty()) typed.words.assign(words.begin() + 1, words.end());
  Completions found = complete_verb(line);
  const bool of_help = !typed.words.empty() && typed.words.front() == "help";
  for (std::size_t v = 0; v < line.verbs().size() && !of_help; ++v) {
    if (std::ranges::find(typed.words, line.verbs()[v].name) == typed.words.end()) continue;
    typed.flags = line.flags(v).infos();
    typed.arguments = line.flags(v).words();
    found = complete_of_verb(typed);
    break;
  }
  std::erase_if(found.words, [&](const Completion& each) { return !each.word.starts_with(typed.last); });
  return found;
}

std::string last_word(std::string_view command) { return split_command(command).back(); }

}  // namespace ecotone::cli
