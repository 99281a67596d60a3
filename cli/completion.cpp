#include <fmt/format.h>

#include <algorithm>

#include "cli/output.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"

namespace ecotone::cli {
namespace {

/// Everything that can be completed, taken from the program itself so that it cannot go stale.
struct VerbWords {
  std::string name;
  std::string help;
  std::vector<FlagInfo> flags;
  std::vector<std::string> arguments;
  bool files = true;  // whether arguments may be files too
};
using Words = std::vector<VerbWords>;

constexpr const char* shells[] = {"bash", "zsh", "fish"};

Words all_words() {
  const CommandLine line(all_verbs());
  Words words;
  for (std::size_t v = 0; v < line.verbs().size(); ++v) {
    const Verb& verb = line.verbs()[v];
    const Flags& flags = line.flags(v);
    words.push_back({verb.name, verb.summary, flags.infos(), flags.words().words, flags.words().files});
  }
  return words;
}

std::string joined_flags(const VerbWords& verb) {
  std::vector<std::string> names;
  for (const FlagInfo& flag : verb.flags) names.insert(names.end(), flag.names.begin(), flag.names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string verb_names(const Words& words) {
  std::vector<std::string> names;
  for (const auto& verb : words) names.push_back(verb.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_script(const Words& words) {
  std::string flags, arguments, values, takes_value;
  std::vector<std::string> seen;
  for (const auto& verb : words) {
    flags += fmt::format("    {}) flags=\"{}\" ;;\n", verb.name, joined_flags(verb));
    if (!verb.arguments.empty())
      arguments += fmt::format("    {}) words=\"{}\"{} ;;\n", verb.name, fmt::join(verb.arguments, " "),
                               verb.files ? " files=yes" : "");
    for (const auto& flag : verb.flags) {
      if (!flag.takes_value || std::count(seen.begin(), seen.end(), flag.names.front())) continue;
      seen.push_back(flag.names.front());
      values += fmt::format("    {}) {} return ;;\n", fmt::join(flag.names, "|"),
                            flag.values.empty() ? ""
                                                : fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"));",
                                                              fmt::join(flag.values, " ")));
    }
  }
  // Where nothing is offered, `-o default` completes file names.
  return fmt::format(R"(# bash completion for ecotone: source <(ecotone completion bash)
_ecotone() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" flags="" words="" files=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$cur"))
    return
  fi
  case "$prev" in
{}  esac
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "${{COMP_WORDS[1]}}" in
{}  esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$cur")) ;;
    *) [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$cur"))
       [ -n "$files" ] && COMPREPLY+=($(compgen -f -- "$cur")) ;;
  esac
}}
complete -o default -F _ecotone ecotone
)",
                     verb_names(words), values, flags, arguments);
}

/// Text inside '...' of a shell, and for zsh's specs without its special characters.
std::string quoted(std::string text, std::string_view special = "") {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 4) text.replace(at, 1, "'\\''");
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_script(const Words& words) {
  std::string verbs, cases;
  for (const auto& verb : words) {
    verbs += fmt::format("    '{}:{}'\n", verb.name, quoted(verb.help, ":"));
    cases += fmt::format("    {})\n      _arguments", verb.name);
    for (const auto& flag : verb.flags) {
      const std::string action = flag.values.empty() ? "_files" : fmt::format("({})", fmt::join(flag.values, " "));
      for (const std::string& name : flag.names)
        cases += fmt::format(" \\\n        '{}[{}]{}'", name, quoted(flag.help, "[]:"),
                             flag.takes_value ? ":value:" + action : "");
    }
    const std::string words_action = fmt::format("({})", fmt::join(verb.arguments, " "));
    if (verb.arguments.empty()) {
      cases += " \\\n        '*:file:_files'";
    } else if (!verb.files) {
      cases += fmt::format(" \\\n        '*:argument:{}'", words_action);
    } else {
      // After a blank, zsh calls the action as it is written.
      cases +=
          fmt::format(" \\\n        '*:argument: _alternative \"words:word:{}\" \"files:file:_files\"'", words_action);
    }
    cases += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef ecotone
# zsh completion for ecotone: save it as _ecotone in a folder of $fpath, or source <(ecotone completion zsh)
_ecotone() {{
  local -a verbs
  verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe 'verb' verbs
    return
  fi
  local verb=$words[2]
  words=("${{(@)words[2,-1]}}")
  (( CURRENT-- ))
  case $verb in
{}  esac
}}
if [ "$funcstack[1]" = "_ecotone" ]; then
  _ecotone "$@"
else
  compdef _ecotone ecotone
fi
)",
                     verbs, cases);
}

std::string fish_script(const Words& words) {
  std::string text = "# fish completion for ecotone: ecotone completion fish | source\n";
  for (const auto& verb : words) {
    text +=
        fmt::format("complete -c ecotone -f -n __fish_use_subcommand -a {} -d '{}'\n", verb.name, quoted(verb.help));
    const std::string when = fmt::format("complete -c ecotone -n '__fish_seen_subcommand_from {}'", verb.name);
    for (const auto& flag : verb.flags) {
      text += when;
      for (const std::string& name : flag.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (flag.takes_value) text += " -r";
      if (!flag.values.empty()) text += fmt::format(" -f -a '{}'", fmt::join(flag.values, " "));
      text += fmt::format(" -d '{}'\n", quoted(flag.help));
    }
    if (!verb.arguments.empty())
      text += fmt::format("{}{} -a '{}'\n", when, verb.files ? "" : " -f", fmt::join(verb.arguments, " "));
  }
  return text;
}

struct CompletionFlags {
  std::string shell;
};

void run_completion(const CompletionFlags& flags, Session& session) {
  const std::string& shell = flags.shell;
  const Words words = all_words();
  std::string script;
  if (shell == "bash") script = bash_script(words);
  if (shell == "zsh") script = zsh_script(words);
  if (shell == "fish") script = fish_script(words);
  if (script.empty()) option_error("unknown_shell", "completion: shell must be bash, zsh or fish, got '{}'", shell);
  session.say(script);
  session.print({{"shell", shell}, {"script", script}});
}

void declare_completion(Flags& flags, CompletionFlags& inputs) {
  flags.argument("SHELL", inputs.shell, "bash, zsh or fish", Need::required);
  flags.complete_arguments({{std::begin(shells), std::end(shells)}, false});
}

}  // namespace

Verb completion_verb() {
  return make_verb(
      {"completion", "Print a shell script that completes verbs, flags and methods", "completion bash|zsh|fish",
       "  source <(ecotone completion bash)\n"
       "  ecotone completion zsh > ~/.zfunc/_ecotone\n"
       "  ecotone completion fish | source\n"},
      declare_completion, run_completion);
}

}  // namespace ecotone::cli
