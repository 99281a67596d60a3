#include <fmt/format.h>

#include <optional>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/methods/sums/parts.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct FinishFlags {
  std::vector<std::string> files;
  std::string behind;
  std::string output;
  const Flags* flags = nullptr;
};

void run_finish(const FinishFlags& flags, Session& session) {
  refuse_seed(*flags.flags);
  const std::vector<std::filesystem::path> files(flags.files.begin(), flags.files.end());
  require_files(files);
  std::vector<std::filesystem::path> inputs = files;
  std::optional<Model> behind;
  if (!flags.behind.empty()) {
    require_files({flags.behind});
    inputs.emplace_back(flags.behind);
    behind = Model::load(flags.behind);
  }
  require_separate(inputs, {flags.output});
  require_writable(flags.output);
  const std::vector<SumsPart> parts = session.timed("read", [&] { return load_parts(files); });
  const Model model =
      session.timed("finish", [&] { return finish_parts(parts, behind ? &*behind : nullptr, session.context()); });
  session.timed("write", [&] { model.save(flags.output); });
  session.say(finish_text(model, parts) + fmt::format("wrote    {}\n", flags.output));
  Json json = finish_json(model, parts);
  json["output"] = flags.output;
  session.print(std::move(json));
}

void declare_finish(Flags& flags, FinishFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("PARTS...", inputs.files, "Files of sums from `ecotone partial` or `ecotone merge`");
  flags.output(inputs.output, "The model file to write (.eco)", Need::required);
  flags.text("--behind", "MODEL", inputs.behind, "The model that prepared the rows of all parts");
}

}  // namespace

Verb finish_verb() {
  return make_verb({"finish", "Make the model of the sums of all sites", "finish PARTS... -o MODEL [flags]",
                    "  ecotone finish all.eco -o model.eco\n"
                    "  ecotone finish north.eco south.eco -o model.eco\n"},
                   declare_finish, run_finish);
}

}  // namespace ecotone::cli
