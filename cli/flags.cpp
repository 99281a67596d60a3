#include "cli/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include "cli/command_text.h"
#include "cli/flag_errors.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone::cli {
namespace {

constexpr const char* description =
    "ecotone: learn from several domains (hospitals, batches, sensors) and predict on the next one.\n";
constexpr const char* footer =
    "\nTry it:\n"
    "  ecotone generate clinics -o clinics.csv\n"
    "  ecotone evaluate clinics.csv --label disease --domain hospital \"impute | constant\" \"impute | scale | "
    "logistic\"\n"
    "\n`ecotone VERB --help` explains a verb. Exit codes: 0 success, 2 wrong usage or option, 3 bad data\n"
    "or not enough memory, 4 file error, 70 a bug in ecotone, 130 interrupted.";

/// CLI11's help page with the usage line that the verb gives, in our words and as wide as our tables.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter(std::string usage, std::size_t first_column) : usage_(std::move(usage)) {
    column_width(first_column);
    label("Positionals", "Arguments");
  }
  std::string make_usage(const CLI::App*, std::string) const override {
    return fmt::format("Usage: ecotone {}\n", usage_);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool takes_value = !option->get_positional() && option->get_items_expected_max() > 0;
    return takes_value ? " " + option->get_type_name() : "";
  }
  std::string make_option_desc(const CLI::Option* option) const override { return lines(option->get_description()); }
  std::string make_subcommand(const CLI::App* verb) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, verb->get_name(), lines(verb->get_description()), get_column_width());
    return out.str();
  }

 private:
  /// The text of a second column.
  std::string lines(const std::string& text) const {
    std::string result = wrapped(text, page_width - static_cast<Index>(get_column_width()), "");
    result.pop_back();  // the last line end
    return result;
  }

  std::string usage_;
};

/// "held_out" as typed.
std::string flag_name(const OptionInfo& info) {
  std::string name = info.name;
  std::ranges::replace(name, '_', '-');
  const bool turned_off = info.type == OptionType::boolean && info.default_value == true;
  return (turned_off ? "--no-" : "--") + name;
}

std::string shown_value(const OptionInfo& info) {
  if (info.limits.shown) return info.limits.shown;
  switch (info.type) {
    case OptionType::integer:
      return "N";
    case OptionType::choice:
      return "NAME";
    case OptionType::texts:
      return "A,B,..";
    case OptionType::file:
      return "FILE";
    case OptionType::text:
      return "TEXT";
    default:
      return "X";
  }
}

/// The help with the default, unless it speaks of it or there is none.
std::string help_with_default(const OptionInfo& info) {
  const Json& value = info.default_value;
  const bool none = value.is_null() || value.is_boolean() || value.empty() || (value.is_string() && value == "");
  if (none || info.help.find("(default") != std::string::npos) return info.help;
  return fmt::format("{} (default {})", info.help, option_text(value));
}

/// Accepts whole numbers of a range, and says which.
template <class Number>
CLI::Validator whole_number(Number low, Number high, const std::string& range) {
  return {[=](std::string& text) {
            Number number = 0;
            const char* const end = text.data() + text.size();
            const auto read = std::from_chars(text.data(), end, number);
            const bool good = read.ec == std::errc() && read.ptr == end && number >= low && number <= high;
            return good ? std::string() : fmt::format("a whole number from {} is needed, got '{}'", range, text);
          },
          ""};
}

/// CLI11 leaves two blank lines between some parts; one will do.
std::string help_page(const CLI::App& app) {
  std::string page = app.help();
  for (std::size_t at; (at = page.find("\n\n\n")) != std::string::npos;) page.erase(at, 1);
  return page;
}

void add_common_flags(Flags& flags, CLI::App& app, CommonFlags& common) {
  const std::string group = "Common flags";
  app.set_help_flag("--help,-h", "Print this page")->group(group);
  flags.group(group);
  flags.flag("--json", common.json, "Print one JSON document on standard output and nothing else");
  flags.number("--threads", common.threads, 0, 4096, "Threads to use (0: all); results do not depend on it");
  flags.number("--seed", common.seed, "Seed of the random numbers (default 0)");
  flags.flag("--quiet,-q", common.quiet, "Suppress notes and the progress bar, but not warnings");
  flags.flag("--timing", common.timing, "Report on standard error how long each part took");
}

}  // namespace

Flags::Flags(CLI::App& app, std::string verb) : app_(app), verb_(std::move(verb)) {}

CLI::Option& Flags::grouped(CLI::Option& option) const {
  if (!group_.empty()) option.group(group_);
  return option;
}

void Flags::argument(const std::string& name, std::string& value, const std::string& help, Need need) {
  app_.add_option(name, value, help)->required(need == Need::required);
}

void Flags::arguments(const std::string& name, std::vector<std::string>& values, const std::string& help, Need need) {
  app_.add_option(name, values, help)->required(need == Need::required);
}

void Flags::flag(const std::string& names, bool& value, const std::string& help) {
  grouped(*app_.add_flag(names, value, help));
}

void Flags::text(const std::string& names, const std::string& shown, std::string& value, const std::string& help,
                 Need need, std::vector<std::string> values) {
  CLI::Option& option = grouped(*app_.add_option(names, value, help));
  option.type_name(shown)->required(need == Need::required);
  if (!values.empty()) values_.emplace_back(names_of(option).front(), std::move(values));
}

void Flags::texts(const std::string& names, const std::string& shown, std::vector<std::string>& values,
                  const std::string& help) {
  grouped(*app_.add_option(names, values, help)).allow_extra_args(false)->type_name(shown);
}

void Flags::number(const std::string& names, int& value, int low, int high, const std::string& help) {
  grouped(*app_.add_option(names, value, help))
      .check(whole_number<int>(low, high, fmt::format("{} to {}", low, high)))
      ->type_name("N");
}

void Flags::number(const std::string& names, std::uint64_t& value, const std::string& help) {
  grouped(*app_.add_option(names, value, help))
      .check(whole_number<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max(), "0 to 2^64 - 1"))
      ->type_name("N");
}

void Flags::output(std::string& path, const std::string& help, Need need) {
  text("--output,-o", "FILE", path, help, need);
}

std::shared_ptr<const OptionValues> Flags::declare(const std::vector<OptionInfo>& infos,
                                                   const std::vector<std::string>& only) {
  const auto texts = std::make_shared<OptionTexts>();
  std::vector<OptionInfo> flags;       // under the names that are typed
  std::vector<std::string> own_names;  // of the same options, as they are declared
  for (const OptionInfo& info : infos) {
    if (!only.empty() && std::ranges::find(only, info.name) == only.end()) continue;
    OptionInfo flag = info;
    flag.name = flag_name(info);
    const auto keep = [texts, name = flag.name](const std::string& text) { texts->emplace_back(name, text); };
    if (info.type == OptionType::boolean) {
      const std::string text = info.default_value == true ? "false" : "true";
      grouped(*app_.add_flag_callback(
          flag.name, [keep, text] { keep(text); }, info.help));
    } else if (info.type == OptionType::texts) {
      const auto keep_all = [keep](const std::vector<std::string>& all) {
        keep(fmt::format("{}", fmt::join(all, ",")));
      };
      grouped(*app_.add_option_function<std::vector<std::string>>(flag.name, keep_all, help_with_default(info)))
          .allow_extra_args(false)
          ->type_name(shown_value(info));
    } else {
      grouped(*app_.add_option_function<std::string>(flag.name, keep, help_with_default(info)))
          .type_name(shown_value(info));
      const auto* choices = info.limits.choices.data();
      if (info.type == OptionType::choice)
        values_.emplace_back(flag.name, std::vector<std::string>(choices, choices + info.limits.n_choices));
    }
    flags.push_back(std::move(flag));
    own_names.push_back(info.name);
  }
  const auto given = std::make_shared<OptionValues>();
  finish_.push_back([verb = verb_, texts, flags, own_names, given] {
    const OptionValues values = complete_options(verb, flags, *texts);
    for (std::size_t i = 0; i < flags.size(); ++i)
      if (std::ranges::find(*texts, flags[i].name, &OptionTexts::value_type::first) != texts->end())
        given->set(own_names[i], values.at(flags[i].name));
  });
  return given;
}

bool Flags::given(const std::string& name) const { return app_.get_option(name)->count() > 0; }

std::string Flags::given_of(const std::string& heading) const {
  for (const CLI::Option* option : app_.get_options())
    if (option->get_group() == heading && option->count() > 0) return option->get_name();
  return "";
}

std::vector<FlagInfo> Flags::infos() const {
  std::vector<FlagInfo> infos;
  for (const CLI::Option* option : app_.get_options()) {
    if (option->get_lnames().empty()) continue;
    FlagInfo info{names_of(*option), option->get_description(), option->get_items_expected_max() > 0, {}, {}};
    if (info.takes_value) info.shown = option->get_type_name();
    for (const auto& [name, values] : values_)
      if (name == info.names.front()) info.values = values;
    infos.push_back(std::move(info));
  }
  return infos;
}

void Flags::finish() const {
  for (const auto& finish : finish_) finish();
}

void Flags::check_values() {
  const CLI::Validator value(
      [flags = flag_names(app_)](std::string& given) {
        if (given.empty()) return std::string("the value is empty; omit the flag, or give it a value");
        const bool flag = std::ranges::find(flags, given) != flags.end();
        return flag ? fmt::format("a value is needed here, not the flag {}", given) : std::string();
      },
      "");
  const CLI::Validator no_empty_list(
      [](std::string& given) {
        const bool empty = given.find_first_not_of(", ") == std::string::npos;
        return empty ? std::string("the list is empty; omit the flag, or name something") : std::string();
      },
      "");
  const CLI::Validator no_equals(
      [](std::string& given) {
        const bool equals = given.starts_with('=');
        return equals ? std::string("the value begins with '='; write '-o FILE' or '--output=FILE'") : std::string();
      },
      "");
  for (CLI::Option* option : app_.get_options()) {
    if (option->get_positional() || option->get_items_expected_max() == 0) continue;
    option->check(value);
    if (option->get_type_name().ends_with(",..")) option->check(no_empty_list);
    if (!option->get_snames().empty()) option->check(no_equals);
  }
}

struct CommandLine::State {
  CLI::App program{description, "ecotone"};
  std::vector<Verb> verbs;
  std::vector<CLI::App*> apps;                ///< of the verbs
  std::vector<std::unique_ptr<Flags>> flags;  ///< of the verbs
  CommonFlags common;

  void add(const Verb& verb) {
    CLI::App& app = *program.add_subcommand(verb.name, verb.summary);
    app.group(verb.group);
    app.set_help_flag();
    app.option_defaults()->disable_flag_override();
    app.formatter(std::make_shared<HelpFormatter>(verb.usage, 30));
    app.footer("\nExamples:\n" + verb.examples);
    flags.push_back(std::make_unique<Flags>(app, verb.name));
    verb.declare(*flags.back());
    // Last, because help pages show flags in the order in which they were added.
    add_common_flags(*flags.back(), app, common);
    flags.back()->check_values();
    apps.push_back(&app);
  }

  std::optional<std::size_t> find(const std::string& name) const {
    const auto it = std::ranges::find(verbs, name, &Verb::name);
    if (it == verbs.end()) return std::nullopt;
    return static_cast<std::size_t>(it - verbs.begin());
  }

  /// Whether a flag of any verb takes a value.
  bool takes_value(std::string_view name) const {
    for (const auto& of_verb : flags)
      for (const FlagInfo& info : of_verb->infos())
        if (std::ranges::find(info.names, name) != info.names.end()) return info.takes_value;
    return false;
  }

  /// The arguments with flags that stand before the verb moved behind it.
  std::vector<std::string> verb_first(std::vector<std::string> words) const {
    std::size_t place = 0;
    while (place < words.size() && words[place].starts_with('-'))
      place += words[place].find('=') == std::string::npos && takes_value(words[place]) ? 2 : 1;
    if (place > 0 && place < words.size() && find(words[place]))
      std::rotate(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(place),
                  words.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    return words;
  }

  /// Of flags alone.
  void require_verb(const std::vector<std::string>& words) const {
    const std::string flag = words.front().substr(0, words.front().find('='));
    for (const auto& of_verb : flags)
      for (const FlagInfo& info : of_verb->infos())
        if (std::ranges::find(info.names, flag) != info.names.end() && flag != "--help" && flag != "-h")
          option_error("usage", "{} needs a verb, such as `ecotone {} {}`; `ecotone --help` lists them", flag,
                       of_verb->verb(), flag);
  }

  [[noreturn]] void unknown_verb(const std::string& name) const {
    std::vector<std::string> names;
    for (const Verb& verb : verbs) names.push_back(verb.name);
    option_error("unknown_verb", "unknown verb '{}'{}{}", name, suggestion(name, names),
                 did_you_mean(name, names).empty() ? fmt::format("; verbs are {}", fmt::join(names, ", ")) : "");
  }
};

CommandLine::CommandLine(std::vector<Verb> verbs) : state_(std::make_unique<State>()) {
  CLI::App& program = state_->program;
  program.footer(footer);
  program.set_help_flag("--help,-h", "Print this page");
  program.set_version_flag("--version", version_text(), "Print the version and the build");
  program.formatter(std::make_shared<HelpFormatter>("VERB ...", 20));
  program.require_subcommand(1);
  state_->verbs = std::move(verbs);
  for (const Verb& verb : state_->verbs) state_->add(verb);
}

CommandLine::~CommandLine() = default;

const Verb* CommandLine::parse(int argc, char** argv) {
  CLI::App& program = state_->program;
  std::vector<std::string> words = state_->verb_first({argv + 1, argv + argc});
  state_->common.command = command_text(words);
  state_->common.words = words;
  const std::string first = words.empty() ? "help" : words.front();
  if (first == "help") {
    const auto verb = words.size() > 1 ? state_->find(words[1]) : std::nullopt;
    if (words.size() > 1 && !verb && !words[1].starts_with('-') && words[1] != "help") state_->unknown_verb(words[1]);
    write_standard_output(help_page(verb ? *state_->apps[*verb] : program));
    return nullptr;
  }
  if (first == "version") words.front() = "--version";
  if (!first.starts_with('-') && first != "version" && !state_->find(first)) state_->unknown_verb(first);
  if (first.starts_with('-')) state_->require_verb(words);
  std::ranges::reverse(words);  // as CLI11 takes them
  try {
    program.parse(words);
  } catch (const CLI::CallForHelp&) {
    const auto parsed = program.get_subcommands();
    write_standard_output(help_page(parsed.empty() ? program : *parsed.front()));
    return nullptr;
  } catch (const CLI::CallForVersion&) {
    write_standard_output(wants_json(argc, argv) ? json_text(version_json()) : version_text() + "\n");
    return nullptr;
  } catch (const CLI::ParseError& error) {
    usage_error(program, error);
  }
  const std::size_t verb = *state_->find(program.get_subcommands().front()->get_name());
  state_->flags[verb]->finish();
  return &state_->verbs[verb];
}

const CommonFlags& CommandLine::common() const { return state_->common; }
const std::vector<Verb>& CommandLine::verbs() const { return state_->verbs; }
const Flags& CommandLine::flags(std::size_t verb) const { return *state_->flags[verb]; }

}  // namespace ecotone::cli
