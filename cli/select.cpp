#include "cli/arguments.h"
#include "cli/page.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/choose/selection.h"
#include "ecotone/data/read.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/text/text.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone::cli {
namespace {

struct SelectFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  SelectOptions options;
  PageFlags page;
  const Flags* flags = nullptr;
};

/// The arguments, with a pipeline where none is given.
std::vector<std::string> with_default(std::vector<std::string> arguments, Session& session) {
  if (has_pipeline(arguments)) return arguments;
  const bool moments =
      arguments.size() == 1 && std::filesystem::exists(arguments.front()) && holds_moments(arguments.front());
  arguments.emplace_back(moments ? "step" : "impute | step");
  session.context().note("no pipeline given; using \"{}\"", arguments.back());
  return arguments;
}

void run_select(const SelectFlags& flags, Session& session) {
  const DataAndPipelines given = data_and_pipelines(with_default(flags.arguments, session));
  if (given.pipelines.size() > 1)
    option_error("usage", "select: expected one pipeline, got {}", given.pipelines.size());
  const Pipeline& pipeline = given.pipelines.front();
  const bool moments = holds_moments(given.data.front());
  if (moments && given.data.size() > 1)
    option_error("one_file", "select: expected one file of moments, got {} files; merge them with `ecotone moments`",
                 given.data.size());
  if (moments) refuse_data_flags(*flags.flags, "a file of moments already has domains and labels");
  require_selector(pipeline);
  require_separate(files_read(given.data, flags.read), {flags.page.report});
  require_page(flags.page);
  const Context& context = session.context();
  Report report;
  FeatureSelection found;
  if (moments) {
    const Moments read = session.timed("read", [&] { return load_moments(given.data.front()); });
    found = session.timed(
        "select", [&] { return select_features(pipeline, read, given.data.front().string(), flags.options, context); });
  } else {
    const Dataset data = session.timed("read", [&] { return read_dataset(given.data, flags.read, context); });
    found = session.timed("select", [&] { return select_features(pipeline, data, flags.options, context); });
    if (session.json() || flags.page.asked())
      report.provenance = {provenance_of(data, given.data, flags.read, session)};
    if (flags.page.asked()) add_background(report, data, Differences::left_out, session);
  }
  session.say(selection_text(found));
  report.selection = std::move(found);
  write_page(flags.page, report, session);
  session.print(document_of(report));
}

void declare_select(Flags& flags, SelectFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("DATA... PIPELINE", inputs.arguments,
                  fmt::format("Data files or one file of moments, then a pipeline that ends in {} (default: impute | "
                              "step)",
                              or_list(selector_names())));
  flags.complete_arguments({method_names()});
  flags.options(inputs.options);
  add_page_flags(flags, inputs.page);
  add_data_flags(flags, inputs.read, DataUse::training);
}

}  // namespace

Verb select_verb() {
  return make_verb(
      {"select", "Select features that hold across domains, step by step", "select DATA... [PIPELINE] [flags]",
       "  ecotone select clinics.csv --label disease --domain hospital\n"
       "  ecotone select clinics.csv \"impute | scale | tgreedy steps=10\" --label disease --domain hospital\n"
       "  ecotone select data.csv \"tgreedy steps=10 mode=stagewise\" --label y --domain site --json\n"
       "  ecotone select moments.eco \"greedy steps=25 stop=lodo\"\n"},
      declare_select, run_select);
}

}  // namespace ecotone::cli
