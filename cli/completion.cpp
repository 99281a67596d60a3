#include <fmt/format.h>

#include <map>

#include "cli/complete.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"

namespace ecotone::cli {
namespace {

// The program gives a word a line, with a tab and a description behind it, and `:files` where files fit, too.

// Readline replaces only what follows the last of its break characters, such as the `=` of `--label=`; the program is
// told, and leaves out what stands before it. `-o filenames` makes bash quote what it inserts.
constexpr const char* bash_script = R"(# bash completion for ecotone: source <(ecotone completion bash)
_ecotone() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    if [ "$word" = :files ]; then
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$2")
    else
      COMPREPLY+=("${word%%$'\t'*}")
    fi
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
}
complete -o filenames -F _ecotone ecotone
)";

constexpr const char* zsh_script = R"(#compdef ecotone
# zsh completion for ecotone: save it as _ecotone in a folder of $fpath, or source <(ecotone completion zsh)
_ecotone() {
  local each
  local -a found shown
  for each in "${(@f)$(command ecotone __complete "${(j: :)words[1,CURRENT-1]} $IPREFIX$QIPREFIX$PREFIX" 2>/dev/null)}"; do
    if [[ $each == :files ]]; then
      _files
    elif [[ -n $each ]]; then
      found+=("${each%%$'\t'*}")
      shown+=("${each/$'\t'/  -- }")
    fi
  done
  compadd -l -d shown -a found
}
if [ "$funcstack[1]" = "_ecotone" ]; then
  _ecotone "$@"
else
  compdef _ecotone ecotone
fi
)";

constexpr const char* fish_script = R"(# fish completion for ecotone: ecotone completion fish | source
function __ecotone_complete
  for each in (command ecotone __complete (commandline -cp) 2>/dev/null)
    if test "$each" = :files
      __fish_complete_path (commandline -ct)
    else
      printf '%s\n' $each
    end
  end
end
complete -c ecotone -f -a '(__ecotone_complete)'
)";

const std::map<std::string, const char*> scripts = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

struct CompletionFlags {
  std::string shell;
};

void run_completion(const CompletionFlags& flags, Session& session) {
  const auto script = scripts.find(flags.shell);
  if (script == scripts.end())
    option_error("unknown_shell", "completion: shell must be bash, zsh or fish, got '{}'", flags.shell);
  session.say(script->second);
  session.print({{"shell", flags.shell}, {"script", script->second}});
}

void declare_completion(Flags& flags, CompletionFlags& inputs) {
  flags.argument("SHELL", inputs.shell, "bash, zsh or fish", Need::required);
  flags.complete_arguments({{"bash", "zsh", "fish"}, false});
}

}  // namespace

std::string completions_text(const CommandLine& line, std::string_view command, std::string_view replaced) {
  const Completions found = complete(line, command);
  const std::string last = last_word(command);
  const std::size_t kept = last.ends_with(replaced) ? last.size() - replaced.size() : 0;
  std::string text;
  for (const Completion& each : found.words)
    text += each.word.substr(kept) + (each.help.empty() ? "" : "\t" + each.help) + "\n";
  return text + (found.files ? ":files\n" : "");
}

Verb completion_verb() {
  return make_verb({"completion", "Print a shell script that completes verbs, flags, columns and pipelines",
                    "completion bash|zsh|fish",
                    "  source <(ecotone completion bash)\n"
                    "  ecotone completion zsh > ~/.zfunc/_ecotone\n"
                    "  ecotone completion fish | source\n"},
                   declare_completion, run_completion);
}

}  // namespace ecotone::cli
