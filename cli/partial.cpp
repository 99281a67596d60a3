#include <fmt/format.h>

#include <optional>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/methods/registry.h"
#include "ecotone/methods/sums/parts.h"
#include "ecotone/methods/sums/sums_route.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct PartialFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  PartOptions options;
  std::string behind;
  std::string output;
  bool strict = false;
};

void run_partial(const PartialFlags& flags, Session& session) {
  const DataAndPipelines given = data_and_pipelines(flags.arguments);
  if (given.pipelines.size() > 1)
    option_error("usage", "partial: expected one pipeline, got {}", given.pipelines.size());
  const Pipeline& pipeline = given.pipelines.front();
  require_sums(pipeline);
  if (!flags.output.ends_with(".eco"))
    option_error("bad_output", "partial: -o must end in .eco, got '{}'", flags.output);
  std::vector<std::filesystem::path> inputs = files_read(given.data, flags.read);
  std::optional<Model> behind;
  if (flags.strict && !flags.behind.empty())
    option_error("idle_flag",
                 "partial: --strict looks at columns before a model is chosen; leave it out with --behind");
  if (!flags.behind.empty()) {
    require_files({flags.behind});
    inputs.emplace_back(flags.behind);
    behind = Model::load(flags.behind);
  }
  require_separate(inputs, {flags.output});
  require_writable(flags.output);
  const Context& context = session.context();
  const auto read_prepared = [&] {
    Schema schema = behind->schema();
    schema.weight.clear();  // sums have no weights, whatever the model was fitted with
    return session.timed("read", [&] { return read_for_model(given.data, schema, flags.read, context); });
  };
  const Dataset data = behind ? read_prepared() : read_checked(given.data, flags.read, flags.strict, session);
  const SumsPart part = session.timed(
      "sums", [&] { return make_part(pipeline, data, behind ? &*behind : nullptr, flags.options, context); });
  session.timed("write", [&] { parts_tensors({part}).write(flags.output); });
  session.say(parts_text({part}) + fmt::format("wrote     {}\n", flags.output));
  Json json = to_json(std::vector{part});
  json["output"] = flags.output;
  session.print(std::move(json));
}

void declare_partial(Flags& flags, PartialFlags& inputs) {
  flags.arguments("DATA... PIPELINE", inputs.arguments, "Data files of one site, then one pipeline");
  flags.complete_arguments({sums_method_names()});
  flags.output(inputs.output, "The file of sums to write (.eco)", Need::required);
  flags.text("--behind", "MODEL", inputs.behind, "A model that prepares the rows first; the same at every site");
  flags.options(inputs.options);
  add_strict_flag(flags, inputs.strict);
  add_data_flags(flags, inputs.read, DataUse::training);
}

}  // namespace

Verb partial_verb() {
  return make_verb(
      {"partial", "Sum over the rows of a site all that a pipeline needs, so that rows can stay where they are",
       "partial DATA... PIPELINE -o PART [flags]",
       "  ecotone partial north.csv \"scale | ridge\" --label y --domain site -o north.eco\n"
       "  ecotone merge north.eco south.eco -o all.eco\n"
       "  ecotone finish all.eco -o model.eco\n"},
      declare_partial, run_partial);
}

}  // namespace ecotone::cli
