#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace ecotone::cli {

/// The names of a flag, "--long" before "-s".
std::vector<std::string> names_of(const CLI::Option& option);
std::vector<std::string> flag_names(const CLI::App& app);

/// "; did you mean ...?", or nothing. Any two flags of one letter are alike, so those are not compared.
std::string suggestion(const std::string& name, const std::vector<std::string>& names);

/// Restates a CLI11 error: an unknown flag first, because it often causes the rest.
[[noreturn]] void usage_error(const CLI::App& program, const CLI::ParseError& error);

}  // namespace ecotone::cli
