#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/choose/selection.h"
#include "ecotone/data/read.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone::cli {
namespace {

struct SelectFlags {
  std::vector<std::string> arguments;
  DataFlags read;
  bool no_held_out = false;
};

/// The arguments, with a pipeline where none is given.
std::vector<std::string> with_default(std::vector<std::string> arguments, Session& session) {
  if (has_pipeline(arguments)) return arguments;
  const bool moments =
      arguments.size() == 1 && std::filesystem::exists(arguments.front()) && holds_moments(arguments.front());
  arguments.emplace_back(moments ? "step" : "impute | step");
  session.context().note("no pipeline given, so \"{}\" it is", arguments.back());
  return arguments;
}

void run_select(const SelectFlags& flags, const CLI::App& app, Session& session) {
  const DataAndPipelines given = data_and_pipelines(with_default(flags.arguments, session));
  if (given.pipelines.size() > 1) option_error("usage", "select: one pipeline, got {}", given.pipelines.size());
  const Pipeline& pipeline = given.pipelines.front();
  const bool moments = holds_moments(given.data.front());
  if (moments && given.data.size() > 1)
    option_error("one_file", "select: one file of moments, got {} files; merge them with `ecotone moments`",
                 given.data.size());
  if (moments) refuse_data_flags(app, "select", "a file of moments has domains and labels already");
  require_selector(pipeline);
  const Context& context = session.context();
  const SelectOptions options{.held_out = !flags.no_held_out};
  FeatureSelection found;
  if (moments) {
    const Moments read = session.timed("read", [&] { return load_moments(given.data.front()); });
    found = session.timed(
        "select", [&] { return select_features(pipeline, read, given.data.front().string(), options, context); });
  } else {
    const Dataset data =
        session.timed("read", [&] { return read_dataset(given.data, flags.read.read_options(), context); });
    found = session.timed("select", [&] { return select_features(pipeline, data, options, context); });
  }
  session.say(selection_text(found));
  session.print(to_json(found));
}

}  // namespace

Verb select_verb(CLI::App& program) {
  const auto flags = std::make_shared<SelectFlags>();
  Verb verb = make_verb(
      program, {"select", "Choose features that hold across domains, step by step", "select DATA... [PIPELINE] [flags]",
                "  ecotone select clinics.csv --label disease --domain hospital\n"
                "  ecotone select clinics.csv \"impute | scale | tgreedy steps=10\" --label disease --domain hospital\n"
                "  ecotone select data.csv \"tgreedy steps=10 mode=stagewise\" --label y --domain site --json\n"
                "  ecotone select moments.eco \"greedy steps=25 stop=lodo\"\n"});
  verb.app
      ->add_option("DATA... PIPELINE", flags->arguments,
                   "Data files or one file of moments, then a pipeline that ends in step, tgreedy or greedy (default: "
                   "impute | step)")
      ->required();
  verb.app->add_flag("--no-held-out", flags->no_held_out,
                     "Do not run the path without each domain in turn, which shows how it does there");
  add_data_flags(*verb.app, flags->read, DataUse::training);
  verb.run = [flags, app = verb.app](Session& session) { run_select(*flags, *app, session); };
  return verb;
}

}  // namespace ecotone::cli
