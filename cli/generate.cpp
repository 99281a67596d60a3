#include "ecotone/data/generate/generate.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/read.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct GenerateFlags {
  std::string name;
  std::vector<std::string> settings;  // --set key=value
  std::vector<std::string> more;      // key=value after the name
  std::string output;
  bool list = false;
};

void list(const GenerateFlags& flags, Session& session) {
  std::vector<Generator> shown = generators();
  if (!flags.name.empty()) std::erase_if(shown, [&](const Generator& each) { return each.name != flags.name; });
  Json all = Json::array();
  for (const Generator& each : shown) all.push_back(to_json(each));
  session.say(generators_text(shown));
  session.print({{"generators", all}});
}

OptionTexts settings(const GenerateFlags& flags) {
  std::vector<std::string> all = flags.settings;
  all.insert(all.end(), flags.more.begin(), flags.more.end());
  OptionTexts texts;
  for (const std::string& setting : all) {
    const auto equal = setting.find('=');
    if (equal == std::string::npos || equal == 0)
      option_error("bad_setting", "{}: settings are written key=value, got '{}'", flags.name, setting);
    texts.emplace_back(setting.substr(0, equal), setting.substr(equal + 1));
  }
  return texts;
}

bool standard_output_closed() {
  pollfd state{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&state, 1, 0) == 1 && (state.revents & POLLERR) != 0;
}

void write_to_standard_output(const Dataset& data, const Context& context) {
  try {
    write_csv(data, "/dev/stdout", context);
  } catch (const Error&) {
    if (standard_output_closed()) throw ClosedPipe{};
    throw;
  }
}

void run_generate(const GenerateFlags& flags, Session& session) {
  if (!flags.name.empty()) generator(flags.name);
  if (flags.list) return list(flags, session);
  if (flags.name.empty())
    option_error("usage", "generate: no name given; `ecotone generate --list` shows all generators");
  const bool to_screen = flags.output.empty() || flags.output == "-";
  if (to_screen && session.json())
    option_error("no_output", "generate: --json needs -o FILE, because standard output holds the JSON document");
  require_data_ending("generate", flags.output);
  const OptionTexts options = settings(flags);
  require_writable(flags.output, true);
  const Dataset data = session.timed("draw", [&] { return generate(flags.name, options, session.context()); });
  session.timed("write", [&] {
    if (to_screen) return write_to_standard_output(data, session.context());
    if (flags.output.ends_with(".eco")) return write_eco(data, flags.output, session.context());
    write_csv(data, flags.output, session.context());
  });
  if (to_screen) return;
  session.say(fmt::format("wrote {}: {}\n", flags.output, data_summary(data)));
  Json document = {{"generator", flags.name}, {"output", flags.output}, {"seed", session.seed()}};
  document.update(data_json(data));
  session.print(std::move(document));
}

void declare_generate(Flags& flags, GenerateFlags& inputs) {
  flags.argument("NAME", inputs.name, "The generator; --list shows them all");
  flags.arguments("KEY=VALUE", inputs.more, "The same as --set KEY=VALUE", Need::optional);
  flags.texts("--set", "KEY=VALUE", inputs.settings, "Set an option of the generator; may be repeated");
  flags.output(inputs.output, "A .csv or .eco file (default: CSV on standard output)");
  flags.flag("--list", inputs.list, "Show all generators, or the one named, with their options");
  ArgumentWords words{.files = false};
  for (const Generator& each : generators()) words.words.push_back(each.name);
  flags.complete_arguments(std::move(words));
}

}  // namespace

Verb generate_verb() {
  return make_verb({"generate", "Draw a synthetic data set", "generate NAME [--set KEY=VALUE]... [-o FILE]",
                    "  ecotone generate --list\n"
                    "  ecotone generate clinics -o clinics.csv\n"
                    "  ecotone generate moons --set angle=30 --seed 7 -o moons.eco\n"},
                   declare_generate, run_generate);
}

}  // namespace ecotone::cli
