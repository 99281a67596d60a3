#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/session.h"
#include "ecotone/base/options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// The command line: verbs, their flags and arguments, help pages and errors of usage. Only flags.cpp knows the library
/// behind it.
namespace ecotone::cli {

/// A flag as completion offers it.
struct FlagInfo {
  std::vector<std::string> names;  ///< as typed: "--output", "-o"
  std::string help;
  bool takes_value = false;
  std::string shown;                ///< what stands for the value on help pages, such as COLUMN
  std::vector<std::string> values;  ///< words to choose from; empty: see `shown`
};

/// Words that a verb's arguments are completed with.
struct ArgumentWords {
  std::vector<std::string> words = {};
  bool files = true;  ///< whether arguments may be files too
};

enum class Need { optional, required };

/// What one verb takes. Declared once, before the command line is read; the values are in place afterwards.
class Flags {
 public:
  Flags(CLI::App& app, std::string verb);
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  /// Arguments without a name of their own.
  void argument(const std::string& name, std::string& value, const std::string& help, Need need = Need::optional);
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help,
                 Need need = Need::required);
  void complete_arguments(ArgumentWords words) { words_ = std::move(words); }

  /// `names` are as typed, separated by commas: "--output,-o".
  void flag(const std::string& names, bool& value, const std::string& help);
  void text(const std::string& names, const std::string& shown, std::string& value, const std::string& help,
            Need need = Need::optional, std::vector<std::string> values = {});
  /// Given once for every value.
  void texts(const std::string& names, const std::string& shown, std::vector<std::string>& values,
             const std::string& help);
  void number(const std::string& names, int& value, int low, int high, const std::string& help);
  void number(const std::string& names, std::uint64_t& value, const std::string& help);
  /// `-o FILE`.
  void output(std::string& path, const std::string& help, Need need = Need::optional);

  /// What an option struct declares by fields(), or only some of it: `held_out` is `--held-out N`, a switch that is on
  /// by default `--no-held-out`. Help pages get the defaults from the struct.
  template <class Options>
  void options(Options& options, const std::vector<std::string>& only = {}) {
    const auto given = declare(describe_options<Options>(), only);
    finish_.push_back([&options, given] {
      std::apply(
          [&](const auto&... f) {
            ((given->has(f.name)
                  ? (options.*f.member = detail::option_value<std::remove_cvref_t<decltype(options.*f.member)>>(
                         given->at(f.name), f.limits),
                     void())
                  : void()),
             ...);
          },
          Options::fields());
    });
  }

  /// What is declared from here on stands under this heading of the help page.
  void group(const std::string& heading) { group_ = heading; }

  /// Whether a flag was on the command line.
  bool given(const std::string& name) const;
  /// The first flag of a group that was, or empty.
  std::string given_of(const std::string& heading) const;

  const std::string& verb() const { return verb_; }
  /// All flags with names, in the order of the help page.
  std::vector<FlagInfo> infos() const;
  const ArgumentWords& words() const { return words_; }

  /// Reads the option structs; after the command line was read. Option errors `bad_option` name the flag.
  void finish() const;
  /// Refuses a flag where a flag's value should be (`--label --json`), an empty value and `-o=FILE` (the file would be
  /// called `=FILE`). The last of the declarations.
  void check_values();

 private:
  CLI::App& app_;
  std::string verb_;
  std::string group_;
  ArgumentWords words_;
  std::vector<std::pair<std::string, std::vector<std::string>>> values_;  ///< of a flag
  std::vector<std::function<void()>> finish_;

  CLI::Option& grouped(CLI::Option& option) const;
  /// Declares flags; the result is filled by finish().
  std::shared_ptr<const OptionValues> declare(const std::vector<OptionInfo>& infos,
                                              const std::vector<std::string>& only);
};

/// One verb: how it is called, what it takes and what it does.
struct Verb {
  std::string name;
  std::string summary;   ///< one sentence
  std::string usage;     ///< what stands after `ecotone`
  std::string examples;  ///< whole commands, one a line
  std::function<void(Flags&)> declare;
  std::function<void(Session&)> run;
  std::string group = {};  ///< its heading on the help page; from verbs.def
};

/// The command line of the program.
class CommandLine {
 public:
  explicit CommandLine(std::vector<Verb> verbs);
  ~CommandLine();

  /// Returns the verb to run, or null if help or the version was printed. Option errors: `usage`, `unknown_verb`,
  /// `unknown_flag`, `unexpected_argument`, `bad_option`.
  const Verb* parse(int argc, char** argv);
  /// Of the verb to run.
  const CommonFlags& common() const;

  const std::vector<Verb>& verbs() const;
  /// Of the verb with the same number.
  const Flags& flags(std::size_t verb) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ecotone::cli
