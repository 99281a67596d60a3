#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/session.h"
#include "ecotone/base/json.h"

namespace ecotone::cli {

/// One verb: its flags on the command line and what it does.
struct Verb {
  CLI::App* app = nullptr;
  std::shared_ptr<CommonFlags> common;
  std::function<void(Session&)> run;
};

/// How a verb is called and what it is for.
struct VerbText {
  std::string name;
  std::string summary;   ///< one sentence
  std::string usage;     ///< what stands after `ecotone`
  std::string examples;  ///< whole commands, one a line
};

/// A help page that begins with «Usage: ecotone ...».
std::shared_ptr<CLI::FormatterBase> help_formatter(const std::string& usage, std::size_t first_column);

/// A verb with the given help; the caller adds its own flags and `run`, and add_verbs the common flags.
Verb make_verb(CLI::App& program, const VerbText& text);

Verb generate_verb(CLI::App& program);
Verb convert_verb(CLI::App& program);
Verb diagnose_verb(CLI::App& program);
Verb evaluate_verb(CLI::App& program);
Verb fit_verb(CLI::App& program);
Verb tune_verb(CLI::App& program);
Verb predict_verb(CLI::App& program);
Verb select_verb(CLI::App& program);
Verb moments_verb(CLI::App& program);
Verb pairs_verb(CLI::App& program);
Verb transform_verb(CLI::App& program);
Verb inspect_verb(CLI::App& program);
Verb reproduce_verb(CLI::App& program);
Verb methods_verb(CLI::App& program);
Verb doctor_verb(CLI::App& program);
Verb completion_verb(CLI::App& program);

/// All verbs, in the order of the help page.
std::vector<Verb> add_verbs(CLI::App& program);

/// Option names of an app as typed, longest first each: «--output», «-o».
std::vector<std::string> flag_names(const CLI::App& app);

/// «ecotone 0.1.0 (commit 1a2b3c, Release, GNU 12.2.0)»
std::string version_text();
/// The same as JSON: version, commit, build_type, compiler, sanitizers.
Json version_json();

}  // namespace ecotone::cli
