#include <fmt/format.h>

#include <cmath>

#include "cli/arguments.h"
#include "cli/select_output.h"
#include "cli/selection_input.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/read.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/methods/model.h"
#include "ecotone/solve/moments_file.h"
#include "ecotone/solve/path_auroc.h"

namespace ecotone::cli {
namespace {

struct Flags {
  std::vector<std::string> arguments;
  DataFlags read;
  bool no_held_out = false;
};

/// The selector that ends a pipeline.
PathRule rule_of(const Pipeline& pipeline) {
  const std::string& name = pipeline.stages().back().method->name;
  if (name == "tgreedy") return PathRule::tgreedy;
  if (name == "greedy") return PathRule::greedy;
  option_error("not_a_selector", "select: the last stage must be tgreedy or greedy, got '{}'", name);
}

SelectOutput describe(const Pipeline& pipeline, const Moments& moments, GreedyRun run) {
  SelectOutput result{.pipeline = pipeline.text(),
                      .rule = rule_of(pipeline),
                      .options = read_options<GreedyOptions>(pipeline.stages().back().options),
                      .run = std::move(run),
                      .features = moments.features,
                      .classes = moments.classes,
                      .domains = {},
                      .source_auroc = {},
                      .held_out_auroc = {}};
  for (const Index g : labelled_list(moments)) result.domains.push_back(moments.groups[static_cast<std::size_t>(g)]);
  return result;
}

SelectOutput select_from_moments(const Pipeline& pipeline, const std::filesystem::path& file, const Flags& flags,
                                 Session& session) {
  if (pipeline.stages().size() > 1)
    option_error("needs_rows", "select: {} holds moments and no rows, so the stages before the last cannot run",
                 file.string());
  const Stage& stage = pipeline.stages().back();
  const auto options = read_options<GreedyOptions>(stage.options);
  const auto moments = session.timed("read", [&] { return moment_columns(stage.method->name, load_moments(file)); });
  GreedyRun run = session.timed("select", [&] {
    return run_greedy(rule_of(pipeline), *moments, options, !flags.no_held_out, session.context());
  });
  return describe(pipeline, moments->moments, std::move(run));
}

SelectOutput select_from_data(const Pipeline& pipeline, const std::vector<std::filesystem::path>& files,
                              const Flags& flags, Session& session) {
  const Context& context = session.context();
  const Stage& stage = pipeline.stages().back();
  const auto options = read_options<GreedyOptions>(stage.options);
  const Dataset data = session.timed("read", [&] { return read_dataset(files, flags.read.read_options(), context); });
  const TrainView given = labelled_view(data, stage.method->name, context);
  if (!data.domain.partner.empty() && !flags.no_held_out)
    context.warn("pairs_held_out",
                 "{}: pairs with the class left out stay among the others, so the held-out columns are optimistic; "
                 "`ecotone evaluate` leaves those pairs out",
                 stage.method->name);
  const TrainView view =
      session.timed("prepare", [&] { return Model::view_of_last(pipeline, given, data.schema, context); });
  const SelectionData rows(stage.method->name, view);
  const PathRoute route = greedy_route(view.x, view.domain.count(), options, !flags.no_held_out);
  const auto moments =
      session.timed("moments", [&] { return moment_columns(rows, route, GramKind::double_precision, context); });
  GreedyRun run = session.timed(
      "select", [&] { return run_greedy(rule_of(pipeline), *moments, options, !flags.no_held_out, context); });
  SelectOutput result = describe(pipeline, moments->moments, std::move(run));
  if (view.y.task != Task::classify && !(rows.rows().y.array().abs() == 1).all()) return result;
  session.timed("auroc", [&] {
    const Selection& selection = result.run.selection;
    const PathResult kept = selection.path.head(selection.taken);
    result.source_auroc = path_auroc(view.x, rows.rows().y, kept, context);
    if (!selection.folds.empty())
      result.held_out_auroc =
          left_out_auroc(rows.rows(), labelled_list(moments->moments), selection.folds, kept.steps(), context);
  });
  if (!result.held_out_auroc.empty()) warn_below_chance("select", "the path", result.held_out_auroc.back(), context);
  return result;
}

void run(const Flags& flags, const CLI::App& app, Session& session) {
  const DataAndPipelines given = data_and_pipelines(flags.arguments);
  if (given.pipelines.size() > 1) option_error("usage", "select: one pipeline, got {}", given.pipelines.size());
  const Pipeline& pipeline = given.pipelines.front();
  rule_of(pipeline);
  const bool moments = holds_moments(given.data.front());
  if (moments && given.data.size() > 1)
    option_error("one_file", "select: one file of moments, got {} files; merge them with `ecotone moments`",
                 given.data.size());
  if (moments) refuse_data_flags(app, "select", "a file of moments has domains and labels already");
  const SelectOutput result = moments ? select_from_moments(pipeline, given.data.front(), flags, session)
                                      : select_from_data(pipeline, given.data, flags, session);
  session.say(select_text(result));
  session.print(select_json(result));
}

}  // namespace

Verb select_verb(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  Verb verb = make_verb(
      program, {"select", "Choose features that hold across domains, step by step", "select DATA... PIPELINE [flags]",
                "  ecotone select clinics.csv \"impute | scale | tgreedy steps=10\" --label disease --domain hospital\n"
                "  ecotone select data.csv \"tgreedy steps=10 mode=stagewise\" --label y --domain site --json\n"
                "  ecotone select moments.eco \"greedy steps=25 stop=lodo\"\n"});
  verb.app
      ->add_option("DATA... PIPELINE", flags->arguments,
                   "Data files or one file of moments, then a pipeline that ends in tgreedy or greedy")
      ->required();
  verb.app->add_flag("--no-held-out", flags->no_held_out,
                     "Do not run the path without each domain in turn, which shows how it does there");
  add_data_flags(*verb.app, flags->read, DataUse::training);
  verb.run = [flags, app = verb.app](Session& session) { run(*flags, *app, session); };
  return verb;
}

}  // namespace ecotone::cli
