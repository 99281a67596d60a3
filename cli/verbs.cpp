#include "cli/verbs.h"

#include <fmt/format.h>

#include <algorithm>

#include "ecotone/version.h"

namespace ecotone::cli {
namespace {

/// CLI11's help page with the usage line that the verb gives.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}
  std::string make_usage(const CLI::App*, std::string) const override {
    return fmt::format("Usage: ecotone {}\n", usage_);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool takes_value = !option->get_positional() && option->get_items_expected_max() > 0;
    return takes_value ? " " + option->get_type_name() : "";
  }

 private:
  std::string usage_;
};

void add_common_flags(CLI::App& app, CommonFlags& flags) {
  const std::string group = "Flags of every verb";
  app.set_help_flag("--help,-h", "Print this page")->group(group);
  app.add_flag("--json", flags.json, "One JSON document on standard output, nothing else there")->group(group);
  app.add_option("--threads", flags.threads, "Threads to use; 0: all. Results do not depend on it")
      ->check(CLI::Range(0, 4096).description(""))
      ->type_name("N")
      ->group(group);
  app.add_option("--seed", flags.seed, "Root of all random numbers (default 0)")->type_name("N")->group(group);
  app.add_flag("--quiet,-q", flags.quiet, "No notes and no progress bar; warnings stay")->group(group);
  app.add_flag("--timing", flags.timing, "Say on standard error how long the parts took")->group(group);
}

/// Refuses a flag where a flag's value should be: `--label --json`.
void check_values(CLI::App& app) {
  const CLI::Validator value(
      [flags = flag_names(app)](std::string& given) {
        const bool flag = std::find(flags.begin(), flags.end(), given) != flags.end();
        return flag ? fmt::format("a value must follow, not the flag {}", given) : std::string();
      },
      "");
  for (CLI::Option* option : app.get_options())
    if (!option->get_positional() && option->get_items_expected_max() > 0) option->check(value);
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter(const std::string& usage, std::size_t first_column) {
  auto formatter = std::make_shared<HelpFormatter>(usage);
  formatter->column_width(first_column);
  return formatter;
}

Verb make_verb(CLI::App& program, const VerbText& text) {
  Verb verb;
  verb.app = program.add_subcommand(text.name, text.summary);
  verb.app->group("Verbs");
  verb.app->set_help_flag();
  verb.app->formatter(help_formatter(text.usage, 30));
  verb.app->footer("\nExamples:\n" + text.examples);
  verb.common = std::make_shared<CommonFlags>();
  return verb;
}

std::vector<Verb> add_verbs(CLI::App& program) {
  std::vector<Verb> verbs;
  for (const auto add : {generate_verb, convert_verb, pairs_verb, moments_verb, diagnose_verb, evaluate_verb, tune_verb,
                         select_verb, fit_verb, predict_verb, transform_verb, inspect_verb, reproduce_verb,
                         methods_verb, doctor_verb, completion_verb})
    verbs.push_back(add(program));
  // Last, because help pages show flags in the order in which they were added.
  for (const Verb& verb : verbs) {
    add_common_flags(*verb.app, *verb.common);
    check_values(*verb.app);
  }
  return verbs;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

Json version_json() {
  return {{"version", version},
          {"commit", build_commit},
          {"build_type", build_type},
          {"compiler", build_compiler},
          {"sanitizers", build_sanitizers}};
}

std::string version_text() {
  const std::string sanitizers = *build_sanitizers ? fmt::format(", sanitize {}", build_sanitizers) : "";
  return fmt::format("ecotone {} (commit {}, {}, {}{})", version, build_commit, build_type, build_compiler, sanitizers);
}

}  // namespace ecotone::cli
