#include <fmt/format.h>

#include <cmath>

#include "cli/arguments.h"
#include "cli/select_output.h"
#include "cli/selection_input.h"
#include "cli/step_output.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/read.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/methods/model.h"
#include "ecotone/solve/moments/moments_file.h"
#include "ecotone/solve/paths/auroc.h"

namespace ecotone::cli {
namespace {

struct SelectFlags {
  std::vector<std::string> arguments;
  DataFlags read;
  bool no_held_out = false;
};

/// The selector that ends a pipeline.
PathRule rule_of(const Pipeline& pipeline) {
  const std::string& name = pipeline.stages().back().method->name;
  if (name == "tgreedy") return PathRule::tgreedy;
  if (name == "greedy") return PathRule::greedy;
  option_error("not_a_selector", "select: the last stage must be step, tgreedy or greedy, got '{}'", name);
}

bool is_step(const Pipeline& pipeline) { return pipeline.stages().back().method->name == "step"; }

std::vector<std::string> labelled_names(const Moments& moments) {
  std::vector<std::string> names;
  for (const Index g : labelled_list(moments)) names.push_back(moments.groups[static_cast<std::size_t>(g)]);
  return names;
}

/// Moments have no rows for the stages before the selector.
void require_one_stage(const Pipeline& pipeline, const std::filesystem::path& file) {
  if (pipeline.stages().size() > 1)
    option_error("needs_rows", "select: {} holds moments and no rows, so the stages before the last cannot run",
                 file.string());
}

SelectOutput describe(const Pipeline& pipeline, const Moments& moments, GreedyRun run) {
  return SelectOutput{.pipeline = pipeline.text(),
                      .rule = rule_of(pipeline),
                      .options = read_options<GreedyOptions>(pipeline.stages().back().options),
                      .run = std::move(run),
                      .features = moments.features,
                      .classes = moments.classes,
                      .domains = labelled_names(moments),
                      .source_auroc = {},
                      .held_out_auroc = {}};
}

SelectOutput select_from_moments(const Pipeline& pipeline, const std::filesystem::path& file, const SelectFlags& flags,
                                 Session& session) {
  require_one_stage(pipeline, file);
  const Stage& stage = pipeline.stages().back();
  const auto options = read_options<GreedyOptions>(stage.options);
  const auto moments =
      session.timed("read", [&] { return moment_columns(stage.method->name, load_moments(file), session.context()); });
  warn_lost_digits(stage.method->name, moments->moments, greedy_centring(options), session.context());
  GreedyRun run = session.timed("select", [&] {
    return run_greedy(rule_of(pipeline), *moments, options, !flags.no_held_out, session.context());
  });
  return describe(pipeline, moments->moments, std::move(run));
}

TrainView view_to_select(const Dataset& data, std::string_view who, const SelectFlags& flags, const Context& context) {
  if (!data.domain.partner.empty() && !flags.no_held_out)
    context.warn("pairs_held_out",
                 "{}: pairs with the class left out stay among the others, so the held-out columns are optimistic; "
                 "`ecotone evaluate` leaves those pairs out",
                 who);
  return labelled_view(data, who, context);
}

SelectOutput select_from_data(const Pipeline& pipeline, const std::vector<std::filesystem::path>& files,
                              const SelectFlags& flags, Session& session) {
  const Context& context = session.context();
  const Stage& stage = pipeline.stages().back();
  const auto options = read_options<GreedyOptions>(stage.options);
  const Dataset data = session.timed("read", [&] { return read_dataset(files, flags.read.read_options(), context); });
  const TrainView given = view_to_select(data, stage.method->name, flags, context);
  const SelectionView near = session.timed("prepare", [&] {
    const TrainView view = Model::view_of_last(pipeline, given, data.schema, context);
    return selection_view(stage.method->name, view, greedy_centring(options), context);
  });
  const TrainView& view = near.view;
  const SelectionData rows(stage.method->name, view);
  const PathRoute route = greedy_route(view.x, view.domain.count(), options, !flags.no_held_out);
  const auto moments =
      session.timed("moments", [&] { return moment_columns(rows, route, GramKind::double_precision, context); });
  GreedyRun run = session.timed(
      "select", [&] { return run_greedy(rule_of(pipeline), *moments, options, !flags.no_held_out, context); });
  SelectOutput result = describe(pipeline, moments->moments, std::move(run));
  Selection& selection = result.run.selection;
  if (view.y.task == Task::classify || (rows.rows().y.array().abs() == 1).all()) {
    session.timed("auroc", [&] {
      const PathResult kept = selection.path.head(selection.taken);
      result.source_auroc = path_auroc(view.x, rows.rows().y, kept, context);
      if (!selection.folds.empty())
        result.held_out_auroc =
            left_out_auroc(rows.rows(), labelled_list(moments->moments), selection.folds, kept.steps(), context);
    });
  }
  near.move_back(selection.path);
  if (!result.held_out_auroc.empty()) warn_below_chance("select", "the path", result.held_out_auroc.back(), context);
  return result;
}

StepOutput step_from_moments(const Pipeline& pipeline, const std::filesystem::path& file, const SelectFlags& flags,
                             Session& session) {
  require_one_stage(pipeline, file);
  const auto options = read_options<StepOptions>(pipeline.stages().back().options);
  const auto moments =
      session.timed("read", [&] { return moment_columns("step", load_moments(file), session.context()); });
  StepOutput result;
  result.pipeline = pipeline.text();
  result.route = moments->route;
  result.features = moments->moments.features;
  result.classes = moments->moments.classes;
  result.domains = labelled_names(moments->moments);
  PenalisedOptions path = step_options(options, static_cast<Index>(result.domains.size()));
  path.folds = !flags.no_held_out;
  result.run = session.timed("select", [&] { return run_step(*moments, nullptr, path, session.context()); });
  if (flags.no_held_out) result.run.folds.clear();
  return result;
}

StepOutput step_from_data(const Pipeline& pipeline, const std::vector<std::filesystem::path>& files,
                          const SelectFlags& flags, Session& session) {
  const Context& context = session.context();
  const auto options = read_options<StepOptions>(pipeline.stages().back().options);
  const Dataset data = session.timed("read", [&] { return read_dataset(files, flags.read.read_options(), context); });
  const TrainView given = view_to_select(data, "step", flags, context);
  const TrainView view =
      session.timed("prepare", [&] { return Model::view_of_last(pipeline, given, data.schema, context); });
  StepInput input(view, options, context);
  input.path.folds = !flags.no_held_out;
  const MomentRows rows = input.data.rows();
  StepOutput result;
  result.pipeline = pipeline.text();
  result.route = input.route;
  result.by_rows = input.left_out.by_rows;
  const auto moments = session.timed(
      "moments", [&] { return moment_columns(input.data, input.route, GramKind::double_precision, context); });
  result.run = session.timed("select", [&] { return run_step(*moments, &rows, input.path, context); });
  if (flags.no_held_out) result.run.folds.clear();
  result.features = moments->moments.features;
  result.classes = moments->moments.classes;
  const TrainView& near = input.near.view;
  for (std::size_t d = 0; d < near.domain.names.size(); ++d)
    if (near.role[d] == Role::source) result.domains.push_back(near.domain.names[d]);
  if ((rows.y.array().abs() == 1).all()) {
    session.timed("auroc", [&] {
      result.source_auroc = path_auroc(near.x, rows.y, result.run.path, context);
      if (!result.run.folds.empty())
        result.held_out_auroc =
            left_out_auroc(rows, labelled_list(moments->moments), result.run.folds, result.run.path.steps(), context);
    });
  }
  input.near.move_back(result.run.path);
  if (!result.held_out_auroc.empty()) warn_below_chance("select", "the path", result.held_out_auroc.back(), context);
  return result;
}

/// The arguments, with a pipeline where none is given.
std::vector<std::string> with_default(std::vector<std::string> arguments, Session& session) {
  if (has_pipeline(arguments)) return arguments;
  const bool moments =
      arguments.size() == 1 && std::filesystem::exists(arguments.front()) && holds_moments(arguments.front());
  arguments.emplace_back(moments ? "step" : "impute | step");
  session.context().note("no pipeline given, so \"{}\" it is", arguments.back());
  return arguments;
}

template <class Output>
void tell(const Output& found, Session& session, std::string (*text)(const Output&), Json (*json)(const Output&)) {
  session.say(text(found));
  session.print(json(found));
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
  if (is_step(pipeline)) {
    tell(moments ? step_from_moments(pipeline, given.data.front(), flags, session)
                 : step_from_data(pipeline, given.data, flags, session),
         session, step_text, step_json);
    return;
  }
  rule_of(pipeline);
  tell(moments ? select_from_moments(pipeline, given.data.front(), flags, session)
               : select_from_data(pipeline, given.data, flags, session),
       session, select_text, select_json);
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
