#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "cli/errors.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/options.h"

namespace ecotone::cli {
namespace {

constexpr const char* description =
    "ecotone: learn from several domains (hospitals, batches, sensors), for the next one.\n";
constexpr const char* footer =
    "\nTry it:\n"
    "  ecotone generate clinics -o clinics.csv\n"
    "  ecotone evaluate clinics.csv --label disease --domain hospital \"impute | constant\" \"impute | scale | "
    "logistic\"\n"
    "\n`ecotone VERB --help` explains a verb. Exit codes: 0 done, 2 wrong usage or option, 3 bad data or not enough\n"
    "memory, 4 file, 70 a bug in ecotone, 130 interrupted.";

bool wants_json(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* a) { return std::string_view(a) == "--json"; });
}

const Verb* find_verb(const std::vector<Verb>& verbs, const std::string& name) {
  const auto it = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& v) { return v.app->get_name() == name; });
  return it == verbs.end() ? nullptr : &*it;
}

std::string suggestion(const std::string& name, const std::vector<std::string>& names) {
  const std::string nearest = did_you_mean(name, names);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

[[noreturn]] void unknown_verb(const std::string& name, const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.app->get_name());
  option_error("unknown_verb", "unknown verb '{}'{}{}", name, suggestion(name, names),
               did_you_mean(name, names).empty() ? fmt::format("; verbs are {}", fmt::join(names, ", ")) : "");
}

/// What CLI11 found wrong, in our words: an unknown flag first, because it often causes the rest.
[[noreturn]] void usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const auto parsed = program.get_subcommands();
  const CLI::App& app = parsed.empty() ? program : *parsed.front();
  const std::string of = parsed.empty() ? "" : " of " + app.get_name();
  for (const std::string& extra : program.remaining(true)) {
    const std::string flag = extra.substr(0, extra.find('='));
    if (flag.starts_with('-'))
      option_error("unknown_flag", "unknown flag '{}'{}{}", flag, of, suggestion(flag, flag_names(app)));
    option_error("unexpected_argument", "unexpected argument '{}'{}", extra, of);
  }
  option_error("usage", "{} (see `ecotone{} --help`)", error.what(), parsed.empty() ? "" : " " + app.get_name());
}

/// Parses the command line; gives the verb to run, or null when help or the version was printed.
const Verb* parse(CLI::App& program, const std::vector<Verb>& verbs, int argc, char** argv) {
  if (argc < 2) option_error("usage", "no verb given (see `ecotone --help`)");
  const std::string first = argv[1];
  if (first == "help") {
    const Verb* verb = argc > 2 ? find_verb(verbs, argv[2]) : nullptr;
    write_standard_output((verb ? *verb->app : program).help());
    return nullptr;
  }
  if (!first.starts_with('-') && find_verb(verbs, first) == nullptr) unknown_verb(first, verbs);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto parsed = program.get_subcommands();
    write_standard_output((parsed.empty() ? program : *parsed.front()).help());
    return nullptr;
  } catch (const CLI::CallForVersion&) {
    write_standard_output(wants_json(argc, argv) ? json_text(version_json()) : version_text() + "\n");
    return nullptr;
  } catch (const CLI::ParseError& error) {
    usage_error(program, error);
  }
  return find_verb(verbs, program.get_subcommands().front()->get_name());
}

void run(int argc, char** argv) {
  CLI::App program{description, "ecotone"};
  program.footer(footer);
  program.set_help_flag("--help,-h", "Print this page");
  program.set_version_flag("--version", version_text(), "Print the version and the build");
  program.formatter(help_formatter("VERB ...", 20));
  const std::vector<Verb> verbs = add_verbs(program);
  program.require_subcommand(1);
  if (const Verb* verb = parse(program, verbs, argc, argv)) {
    Session session(*verb->common);
    verb->run(session);
    session.finish();
  }
}

}  // namespace
}  // namespace ecotone::cli

int main(int argc, char** argv) {
  using namespace ecotone::cli;
  ecotone::keep_freed_memory();
  const bool json = wants_json(argc, argv);
  try {
    install_signals();
    run(argc, argv);
    return 0;
  } catch (const ClosedPipe&) {
    return 0;
  } catch (...) {
    const ecotone::Error error = current_error();
    const int status = report_error(error, json);
    // Without memory even leaving is not safe: a BLAS joins threads of its own that still wait for theirs.
    if (error.code() == "not_enough_memory") _exit(status);
    return status;
  }
}
