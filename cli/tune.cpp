#include "ecotone/choose/tune.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/read.h"
#include "ecotone/methods/model.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct TuneFlags {
  std::vector<std::string> arguments;
  DataFlags read;
  std::string search = "grid";
  int draws = 20;
  std::string metric;
  std::string output;
};

void run_tune(const TuneFlags& flags, Session& session) {
  const TuneOptions options{.search = search_by_name(flags.search), .draws = flags.draws, .metric = flags.metric};
  const DataAndSpaces given = data_and_spaces(flags.arguments);
  const ReadOptions read = flags.read.read_options();
  require_separate(flags.read.inputs(given.data), {flags.output});
  require_writable(flags.output);
  const Context& context = session.context();
  const std::vector<Pipeline> points = search_points(given.pipelines, options, context);
  const Dataset data = session.timed("read", [&] { return read_dataset(given.data, read, context); });
  const Tuning tuning = session.timed("tune", [&] { return tune(data, points, options, context); });
  Json document = to_json(tuning);
  std::string text = tuning_table(tuning);
  if (!flags.output.empty()) {
    const Pipeline chosen = Pipeline::parse(tuning.points[tuning.chosen].pipeline);
    const Model model =
        session.timed("fit", [&] { return Model::fit(chosen, train_view(data, context), data.schema, context); });
    context.check_cancelled();
    session.timed("write", [&] { model.save(flags.output); });
    document["output"] = flags.output;
    text += fmt::format("wrote    {}\n", flags.output);
  }
  session.say(text);
  session.print(std::move(document));
}

}  // namespace

Verb tune_verb(CLI::App& program) {
  const auto flags = std::make_shared<TuneFlags>();
  Verb verb = make_verb(
      program, {"tune", "Choose a pipeline's options inside the training domains", "tune DATA... PIPELINE... [flags]",
                "  ecotone tune clinics.csv \"impute | scale | logistic l2={0.001,0.01,0.1,1}\" --label disease "
                "--domain hospital -o model.eco\n"
                "  ecotone tune data.csv \"scale | logistic l2={1e-4..1} l1={0,1e-3}\" --label y --domain site "
                "--search random --draws 30\n"});
  CLI::App& app = *verb.app;
  app.add_option("DATA... PIPELINE...", flags->arguments,
                 "Data files, then pipelines whose options may be lists {a,b,c} or, for random, ranges {low..high}")
      ->required();
  app.add_option("--search", flags->search, "grid (default): every combination; random: draws")->type_name("NAME");
  const CLI::Option* draws = app.add_option("--draws", flags->draws, "random: draws of each pipeline (default 20)")
                                 ->check(CLI::Range(1, 10000).description(""))
                                 ->type_name("N");
  app.add_option("--metric", flags->metric, "What is best (default: auroc or rmse)")->type_name("NAME");
  add_output(app, flags->output, "Also fit the chosen pipeline on all labelled rows and write the model (.eco)");
  add_data_flags(app, flags->read, DataUse::training);
  verb.run = [flags, draws](Session& session) {
    if (draws->count() > 0 && search_by_name(flags->search) != Search::random)
      option_error("idle_flag", "--draws goes with --search random");
    run_tune(*flags, session);
  };
  return verb;
}

}  // namespace ecotone::cli
