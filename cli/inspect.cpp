#include "cli/arguments.h"
#include "cli/page.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/choose/guard.h"
#include "ecotone/evaluate/columns/column_effects.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/sums/parts.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone::cli {
namespace {

struct InspectFlags {
  std::string path;
  std::vector<std::string> on;
  EffectOptions effects;
  int top = 10;
  bool trees = false;
  ReadOptions read;
  PageFlags page;
  const Flags* flags = nullptr;
};

void inspect_moments(const std::string& path, Session& session) {
  const Moments moments = load_moments(path);
  if (session.json()) return session.print(to_json(moments));
  session.say(moments_text(moments));
}

void inspect_parts(const std::string& path, Session& session) {
  const std::vector<SumsPart> parts = load_parts({path});
  if (session.json()) return session.print(to_json(parts));
  session.say(parts_text(parts));
}

/// Flags about data and what is computed of them need data.
void refuse_without_data(const InspectFlags& flags) {
  for (const char* name : {"--columns", "--repeats", "--rows", "--top", "--report"})
    if (flags.flags->given(name)) option_error("idle_flag", "{} works only with --on DATA", name);
  refuse_data_flags(*flags.flags, "give some with --on");
  require_page(flags.page);
}

/// What the model makes of its columns on given rows.
void inspect_on(const InspectFlags& flags, Session& session) {
  const std::vector<std::filesystem::path> files(flags.on.begin(), flags.on.end());
  require_files(files);
  std::vector<std::filesystem::path> inputs = files_read(files, flags.read);
  inputs.emplace_back(flags.path);
  require_separate(inputs, {flags.page.report});
  require_page(flags.page);
  const Model model = session.timed("load", [&] { return Model::load(flags.path); });
  ReadOptions read = flags.read;
  read.task = model.task();
  const Context& context = session.context();
  const Dataset data = session.timed("read", [&] { return read_for_model(files, model.schema(), read, context); });
  Report report;
  report.effects = session.timed("effects", [&] { return column_effects(model, data, flags.effects, context); });
  if (session.json() || flags.page.asked()) report.provenance = {provenance_of(data, files, read, session)};
  if (flags.page.asked()) add_background(report, data, Differences::left_out, session);
  write_page(flags.page, report, session);
  if (!session.json()) session.say(column_effects_text(*report.effects, static_cast<std::size_t>(flags.top)));
  session.print(document_of(report));
}

void run_inspect(const InspectFlags& flags, Session& session) {
  const std::string& path = flags.path;
  require_files({path});
  const bool sums = holds_moments(path) || holds_parts(path);
  if (flags.trees && (!flags.on.empty() || sums))
    option_error("idle_flag", "--trees prints the trees of a model; it takes no --on and no file of moments or sums");
  if (!flags.on.empty()) return inspect_on(flags, session);
  refuse_without_data(flags);
  if (holds_moments(path)) return inspect_moments(path, session);
  if (holds_parts(path)) return inspect_parts(path, session);
  const Model model = Model::load(path);
  const std::optional<GuardNote> guard = guard_note(model, path);
  const Context& context = session.context();
  if (session.json()) {
    Json document = model.inspect();
    if (flags.trees) document["trees"] = trees_json(model, context);
    return session.print(std::move(document));
  }
  session.say(flags.trees ? model_trees_text(model, context) : model_text(model, guard, context));
}

void declare_inspect(Flags& flags, InspectFlags& inputs) {
  inputs.flags = &flags;
  flags.argument("FILE", inputs.path, "A model from `ecotone fit`, or sums from `ecotone partial` or `ecotone moments`",
                 Need::required);
  flags.flag("--trees", inputs.trees, "Print every tree of a model of trees; with --json, add them to the document");
  flags.texts("--on", "DATA", inputs.on,
              "Show what the model makes of its columns on these rows, in each domain; repeat for several files");
  flags.options(inputs.effects);
  flags.number("--top", inputs.top, 1, 1'000'000, "Largest number of columns shown (default 10); JSON has all");
  add_page_flags(flags, inputs.page);
  add_data_flags(flags, inputs.read, DataUse::new_labels);
}

}  // namespace

Verb inspect_verb() {
  return make_verb(
      {"inspect",
       "Show what a model holds (pipeline, options, fitted values), what its columns do, or what sums reveal",
       "inspect FILE [--on DATA] [flags]",
       "  ecotone inspect model.eco\n"
       "  ecotone inspect model.eco --json\n"
       "  ecotone inspect model.eco --trees\n"
       "  ecotone inspect model.eco --on clinics.csv --report columns.html\n"
       "  ecotone inspect moments.eco\n"
       "  ecotone inspect part.eco\n"},
      declare_inspect, run_inspect);
}

}  // namespace ecotone::cli
