#include <fmt/format.h>

#include <algorithm>

#include "cli/output.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/choose/scorer.h"
#include "ecotone/data/formats/format.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/evaluate/protocol.h"
#include "ecotone/methods/registry.h"
#include "ecotone/reproduce/experiment.h"

namespace ecotone::cli {
namespace {

/// Everything that can be completed; taken from the program itself, so that it cannot grow stale.
struct Words {
  struct Flag {
    std::vector<std::string> names;  // as typed
    std::string help;
    bool takes_value = false;
    std::vector<std::string> values;  // empty: a file, or anything
  };
  struct VerbWords {
    std::string name;
    std::string help;
    std::vector<Flag> flags;
    std::vector<std::string> arguments;
    bool files = true;  // whether arguments may be files too
  };
  std::vector<VerbWords> verbs;
};

std::vector<std::string> flag_values(const std::string& name) {
  std::vector<std::string> values;
  if (name == "protocol")
    for (const Protocol p : {Protocol::leave_one_domain_out, Protocol::adapt, Protocol::domain_split, Protocol::k_fold})
      values.emplace_back(protocol_name(p));
  if (name == "choose") {
    for (const ScorerInfo& info : scorer_infos()) values.emplace_back(info.name);
    values.emplace_back("all");
  }
  if (name == "search") values = {"grid", "random"};
  if (name == "task") values = {"classify", "regress"};
  if (name == "format") values = format_names();
  return values;
}

std::vector<std::string> argument_words(const std::string& verb) {
  std::vector<std::string> words;
  if (verb == "generate")
    for (const Generator& generator : generators()) words.push_back(generator.name);
  if (verb == "methods" || verb == "evaluate" || verb == "fit" || verb == "tune" || verb == "select")
    for (const Method& m : methods()) words.push_back(m.name);
  if (verb == "reproduce")
    for (const EmbeddedExperiment& embedded : embedded_experiments()) words.emplace_back(embedded.name);
  if (verb == "completion") words = {"bash", "zsh", "fish"};
  return words;
}

Words::Flag flag_words(const CLI::Option& option) {
  Words::Flag flag;
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  flag.help = option.get_description();
  flag.takes_value = option.get_items_expected_max() > 0;
  flag.values = flag_values(option.get_lnames().front());
  return flag;
}

Words all_words(const CLI::App& program) {
  Words words;
  for (const CLI::App* app : program.get_subcommands({})) {
    Words::VerbWords verb{app->get_name(), app->get_description(), {}, argument_words(app->get_name())};
    verb.files = verb.arguments.empty() || verb.name == "evaluate" || verb.name == "fit" || verb.name == "tune" ||
                 verb.name == "select";
    for (const CLI::Option* option : app->get_options())
      if (!option->get_lnames().empty()) verb.flags.push_back(flag_words(*option));
    words.verbs.push_back(std::move(verb));
  }
  return words;
}

std::string joined_flags(const Words::VerbWords& verb) {
  std::vector<std::string> names;
  for (const Words::Flag& flag : verb.flags) names.insert(names.end(), flag.names.begin(), flag.names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string verb_names(const Words& words) {
  std::vector<std::string> names;
  for (const auto& verb : words.verbs) names.push_back(verb.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash_script(const Words& words) {
  std::string flags, arguments, values, takes_value;
  std::vector<std::string> seen;
  for (const auto& verb : words.verbs) {
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
  for (const auto& verb : words.verbs) {
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
  for (const auto& verb : words.verbs) {
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

void run_completion(const std::string& shell, const CLI::App& program, Session& session) {
  const Words words = all_words(program);
  std::string script;
  if (shell == "bash") script = bash_script(words);
  if (shell == "zsh") script = zsh_script(words);
  if (shell == "fish") script = fish_script(words);
  if (script.empty()) option_error("unknown_shell", "completion: shell must be bash, zsh or fish, got '{}'", shell);
  session.say(script);
  session.print({{"shell", shell}, {"script", script}});
}

}  // namespace

Verb completion_verb(CLI::App& program) {
  const auto shell = std::make_shared<std::string>();
  Verb verb = make_verb(program, {"completion", "Print a script that completes verbs, flags and methods in a shell",
                                  "completion bash|zsh|fish",
                                  "  source <(ecotone completion bash)\n"
                                  "  ecotone completion zsh > ~/.zfunc/_ecotone\n"
                                  "  ecotone completion fish | source\n"});
  verb.app->add_option("SHELL", *shell, "bash, zsh or fish")->required();
  verb.run = [shell, &program](Session& session) { run_completion(*shell, program, session); };
  return verb;
}

}  // namespace ecotone::cli
