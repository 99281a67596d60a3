#include "cli/flag_errors.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"

namespace ecotone::cli {

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (std::string& name : names_of(*option)) names.push_back(std::move(name));
  return names;
}

std::string suggestion(const std::string& name, const std::vector<std::string>& names) {
  const std::string nearest = name.starts_with('-') && name.size() <= 2 ? "" : did_you_mean(name, names);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

namespace {

/// "--output FILE (or -o FILE)" for an option that CLI11 calls by one of its names.
std::string as_typed(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr || option->get_positional()) return name;
  const std::vector<std::string> names = names_of(*option);
  const std::string value = " " + option->get_type_name();
  return names.front() + value + (names.size() > 1 ? fmt::format(" (or {}{})", names[1], value) : "");
}

/// What CLI11 found wrong, in our words; none of its own.
std::string in_our_words(const CLI::App& app, const CLI::ParseError& error) {
  const std::string said = error.what();
  const std::string kind = error.get_name();
  const std::string name = said.substr(0, said.find_first_of(": "));
  if (app.get_parent() == nullptr) return "no verb is given";
  if (kind == "RequiredError") return fmt::format("{} is missing", as_typed(app, name));
  if (kind == "ValidationError") return said;  // our validators wrote it
  if (kind == "ArgumentMismatch" && said.find("override") != std::string::npos)
    return fmt::format("{}{} is a switch and takes no value", name.size() > 1 ? "--" : "-", name);
  if (kind == "ArgumentMismatch")
    return said.find("received") == std::string::npos ? fmt::format("{}: a value is missing", name)
                                                      : fmt::format("{} can be given only once", name);
  return "the command line cannot be read";
}

}  // namespace

void usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const auto parsed = program.get_subcommands();
  const CLI::App& app = parsed.empty() ? program : *parsed.front();
  const std::string of = parsed.empty() ? "" : " of " + app.get_name();
  for (const std::string& extra : program.remaining(true)) {
    const std::string flag = extra.substr(0, extra.find('='));
    const std::vector<std::string> flags = flag_names(app);
    // What stands behind `--` is no flag, whatever it looks like; `-=` is left of a switch such as `-q=1`.
    if (flag == "--") continue;
    if (flag == "-") option_error("usage", "a flag of one letter is a switch or is written '-o VALUE', without '='");
    if (!flag.starts_with('-') || std::ranges::find(flags, flag) != flags.end())
      option_error("unexpected_argument", "unexpected argument '{}'{}", extra, of);
    if (parsed.empty()) option_error("unknown_flag", "unknown flag '{}'; `ecotone --help` lists the verbs", flag);
    option_error("unknown_flag", "unknown flag '{}'{}{}", flag, of, suggestion(flag, flags));
  }
  option_error("usage", "{} (see `ecotone{} --help`)", in_our_words(app, error),
               parsed.empty() ? "" : " " + app.get_name());
}

}  // namespace ecotone::cli
