#include "ecotone/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/page.h"
#include "cli/ranks.h"
#include "cli/resume.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/choose/choose.h"
#include "ecotone/choose/plain.h"
#include "ecotone/data/formats/csv/csv_field.h"
#include "ecotone/data/read.h"
#include "ecotone/evaluate/known_site.h"
#include "ecotone/evaluate/threshold.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/grid.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct EvaluateFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  EvaluateOptions options;
  std::string metric;
  std::string predictions;
  PageFlags page;
  bool cost = false;
  bool importance = false;
  std::string choose;
  std::string resume;
  bool strict = false;
  const Flags* flags = nullptr;
};

/// pipeline,[repetition,]row,domain,truth,prediction,p_<class>...; rows count from 1 over the data files.
void write_predictions(const std::string& path, const Evaluation& evaluation, const Dataset& data,
                       const Context& context) {
  const bool repeated = evaluation.protocol == Protocol::domain_split;
  Output output(path);
  std::string header =
      repeated ? "pipeline,repetition,row,domain,truth,prediction" : "pipeline,row,domain,truth,prediction";
  for (const std::string& name : evaluation.classes) header.append(",").append(csv_field("p_" + name));
  output.write(header + "\n");
  std::vector<std::string> pipelines;
  for (const PipelineScore& score : evaluation.pipelines) pipelines.push_back(csv_field(score.pipeline));
  const auto append = [&](Index first, Index last, std::string& text) {
    for (Index i = first; i < last; ++i) {
      const HeldOutPrediction& p = evaluation.predictions[static_cast<std::size_t>(i)];
      const auto domain = data.domain.index[static_cast<std::size_t>(p.row)];
      text += pipelines[static_cast<std::size_t>(p.pipeline)] + ",";
      if (repeated) text += std::to_string(p.repetition) + ",";
      text += std::to_string(origin_of(data.origin, p.row) + 1) + ",";
      append_csv_field(text, data.domain.names[static_cast<std::size_t>(domain)]);
      text += ',';
      append_csv_label(text, *data.y, p.row);
      text += ',';
      append_csv_field(text, p.prediction);
      for (const auto& probability : p.probability) {
        text += ',';
        if (probability) append_csv_value(text, *probability);
      }
      text += '\n';
    }
  };
  write_rows(output, static_cast<Index>(evaluation.predictions.size()), 4096, append, context);
  output.commit();
}

/// Called before anything is computed, so that a typo costs no time.
void check_metric(const std::string& name) {
  std::vector<std::string> names;
  for (const MetricInfo& info : metric_infos()) names.emplace_back(info.name);
  if (!name.empty()) require_metric(name, names);
}

/// Refuses a metric of sets that these data and pipelines do not have, before anything is fitted.
void require_shown(const EvaluateFlags& flags, const EvaluateOptions& options, const Dataset& data,
                   const std::vector<PipelineGrid>& grids) {
  if (flags.metric.empty() || !data.y || !find_metric(flags.metric)->of_sets) return;
  const bool sets = std::ranges::any_of(
      grids, [](const PipelineGrid& grid) { return std::ranges::any_of(grid.points, &Pipeline::makes_sets); });
  require_metric(flags.metric, score_metrics(data.y->task, std::ssize(data.y->classes),
                                             {.threshold = !options.threshold.empty(), .sets = sets}));
}

/// The same for a metric that a choice is made by.
void check_choice_metric(const std::string& name) {
  std::vector<std::string> names = choice_metrics(Task::classify);
  for (std::string& other : choice_metrics(Task::regress)) names.push_back(std::move(other));
  if (!name.empty()) require_metric(name, names);
}

/// A metric at a threshold asks for one.
std::string threshold_of(const EvaluateFlags& flags) {
  const bool needed = !flags.metric.empty() && find_metric(flags.metric)->at_threshold;
  const std::string rule = flags.options.threshold.empty() && needed ? "youden" : flags.options.threshold;
  if (!rule.empty()) ThresholdRule::parse(rule);
  return rule;
}

/// Refuses flags of other protocols.
void refuse_idle(const EvaluateFlags& flags, Protocol chosen) {
  constexpr std::pair<const char*, Protocol> of_protocols[] = {
      {"--folds", Protocol::k_fold},          {"--repetitions", Protocol::domain_split},
      {"--held-out", Protocol::domain_split}, {"--blocks", Protocol::forward},
      {"--gap", Protocol::forward},           {"--window", Protocol::forward},
      {"--choose", Protocol::adapt}};
  for (const auto& [name, protocol] : of_protocols)
    if (flags.flags->given(name) && protocol != chosen)
      option_error("idle_flag", "{} works only with --protocol {}, not with {}", name, protocol_name(protocol),
                   protocol_name(chosen));
}

/// Refuses outputs that --choose does not produce, and the metric of choices that it does not make.
void refuse_outputs(const EvaluateFlags& flags) {
  const std::pair<const char*, const std::string&> outputs[] = {{"--save-predictions", flags.predictions},
                                                                {"--report", flags.page.report},
                                                                {"--title", flags.page.title},
                                                                {"--intended-use", flags.page.intended_use},
                                                                {"--resume", flags.resume},
                                                                {"--choice-metric", flags.options.choice_metric},
                                                                {"--threshold", flags.options.threshold}};
  for (const auto& [name, value] : outputs)
    if (!value.empty()) option_error("idle_flag", "{} cannot be combined with --choose", name);
  for (const char* name : {"--resamples", "--cost", "--importance", "--next-domain"})
    if (flags.flags->given(name)) option_error("idle_flag", "{} cannot be combined with --choose", name);
}

/// The candidates with "no adaptation" first; notes report which pipeline that is.
std::vector<Pipeline> candidates_of(const EvaluateFlags& flags, const DataAndPipelines& given, Task task,
                                    const Context& context) {
  std::vector<Pipeline> candidates = plain_first(given.pipelines, task, context);
  context.note("choose: \"{}\" stands for no adaptation", candidates.front().text());
  const bool kept = candidates.front().text() == given.pipelines.front().text();
  if (kept && !PipelineSpace(flags.arguments[given.data.size()]).is_single())
    context.note("choose: the first pipeline is a grid; the others are compared with its first point");
  return candidates;
}

/// --choose: the candidates are all pipelines of all grids; the first is "no adaptation".
void run_choose(const EvaluateFlags& flags, Session& session) {
  check_choice_metric(flags.metric);
  refuse_outputs(flags);
  ChooseOptions options;
  options.metric = flags.metric;
  options.target = flags.options.target;
  if (flags.choose != "all") options.scorers = {scorer_by_name(flags.choose)};
  const DataAndPipelines given = data_and_grids(flags.arguments);
  const Context& context = session.context();
  const Dataset data = read_checked(given.data, flags.read, flags.strict, session);
  if (flags.choose == "all" && data.y) options.scorers = scorers_of(data.y->task);
  const std::vector<Pipeline> candidates = candidates_of(flags, given, data.y ? data.y->task : Task::classify, context);
  const Choice choice = session.timed("choose", [&] { return choose_candidates(data, candidates, options, context); });
  session.say(choice_table(choice));
  session.print(to_json(choice));
}

/// --choice-metric needs a grid to choose from.
void check_choice(const EvaluateFlags& flags, const std::vector<PipelineGrid>& grids) {
  check_choice_metric(flags.options.choice_metric);
  const auto several = [](const PipelineGrid& grid) { return grid.points.size() > 1; };
  if (flags.flags->given("--choice-metric") && std::ranges::none_of(grids, several))
    option_error("idle_flag", "--choice-metric works only with a grid of options, such as l2={{0.01,0.1,1}}");
}

/// The exit status of an evaluation whose table is printed but lacks pipelines that could not be fitted.
void report_failures(const Evaluation& evaluation, Session& session) {
  const std::size_t failed = evaluation.failures();
  if (failed == 0) return;
  write_standard_error(fmt::format("error: {} of {} pipelines could not be fitted; the table says why\n", failed,
                                   evaluation.pipelines.size()));
  session.set_status(exit_code(ErrorKind::data));
}

/// --cost needs a protocol whose domains are new.
void check_cost(const EvaluateFlags& flags, Protocol protocol) {
  if (flags.cost && !scores_new_domains(protocol))
    option_error("idle_flag", "--cost compares new domains with known ones; {} holds no domain out",
                 protocol_name(protocol));
}

/// --target alone means that the named domains are left out together.
EvaluateOptions options_of(const EvaluateFlags& flags) {
  EvaluateOptions options = flags.options;
  options.keep_predictions = !flags.predictions.empty();
  options.threshold = threshold_of(flags);
  if (!options.target.empty() && !flags.flags->given("--protocol")) options.protocol = Protocol::named_domains;
  return options;
}

/// Scores the same pipelines on new rows of known domains, and adds what new domains cost.
void add_cost(Evaluation& evaluation, const Dataset& data, std::vector<PipelineGrid> grids, EvaluateOptions options,
              const Context& context) {
  const std::size_t all = grids.size();
  std::erase_if(grids, [](const PipelineGrid& grid) { return !has_known_site(grid); });
  if (grids.size() < all)
    context.note("evaluate: {} of {} pipelines adapt to a target, which k-fold does not have; they have no cost",
                 all - grids.size(), all);
  if (grids.empty()) return;
  options.protocol = Protocol::k_fold;
  options.target.clear();
  options.keep_predictions = options.curves = false;
  options.importance = options.resamples = 0;
  options.next_domain = NextDomainBy::none;
  try {
    add_known_site(evaluation, evaluate_grids(data, grids, options, context));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::option) throw;
    context.warn("no_cost", "evaluate: the pipelines could not be scored at known sites: {}", error.what());
  }
}

/// Looks into the best pipeline, fitted on all rows; what was chosen of a grid differs by split, so it is left out.
void add_whole_model(Report& report, const Dataset& data, const std::vector<PipelineGrid>& grids,
                     const Context& context) {
  const auto best = best_pipeline(*report.evaluation);
  if (!best || grids[*best].points.size() > 1 || !has_known_site(grids[*best])) return;
  const Pipeline& pipeline = grids[*best].points.front();
  if (has_inside(data, pipeline)) report.whole = whole_model(data, pipeline, context.observed_by(nullptr));
}

/// Few rows of each split where there are many, so that shuffling columns takes no longer than the fits.
int importance_rows(const Dataset& data) {
  return static_cast<int>(std::clamp<Index>(50'000 / std::max<Index>(1, data.domain.count()), 20, 1000));
}

void run_evaluate(const EvaluateFlags& flags, Session& session) {
  check_metric(flags.metric);
  EvaluateOptions options = options_of(flags);
  refuse_idle(flags, options.protocol);
  check_cost(flags, options.protocol);
  if (!flags.choose.empty()) return run_choose(flags, session);
  const DataAndGrids given = data_and_each_grid(flags.arguments);
  check_choice(flags, given.grids);
  require_separate(files_read(given.data, flags.read), {flags.predictions, flags.page.report, flags.resume});
  require_csv_name("--save-predictions", flags.predictions);
  if (session.leads()) {
    require_writable(flags.predictions);
    require_page(flags.page);
  }
  if (!flags.resume.empty() && session.context().ranks().size() > 1)
    option_error("resume_alone", "evaluate: --resume keeps the work of one process; several ranks cannot resume");
  Resume resume(flags.resume, session);
  const Context& context = session.context();
  const Dataset data = read_checked(given.data, for_pipelines(flags.read, given.grids), flags.strict, session);
  require_shown(flags, options, data, given.grids);
  options.curves = flags.page.asked() || session.json();
  if (flags.importance || flags.page.asked()) options.importance = importance_rows(data);
  const bool cost = (flags.cost || flags.page.asked()) && scores_new_domains(options.protocol);
  Evaluation evaluation = resume.run([&](Journal* journal) {
    options.journal = journal;
    Evaluation scored = session.timed("evaluate", [&] { return evaluate_grids(data, given.grids, options, context); });
    if (cost) session.timed("cost", [&] { add_cost(scored, data, given.grids, options, context); });
    return scored;
  });
  if (!goes_on_to_write(session)) return;
  std::string table = session.json() ? "" : evaluation_table(evaluation, flags.metric);
  if (flags.importance && !session.json()) table += importance_table(evaluation);
  session.timed("write", [&] {
    if (!flags.predictions.empty()) write_predictions(flags.predictions, evaluation, data, context);
  });
  evaluation.predictions = {};
  session.say(table);
  Report report;
  report.evaluation = std::move(evaluation);
  if (session.json() || flags.page.asked()) report.provenance = {provenance_of(data, given.data, flags.read, session)};
  if (flags.page.asked()) {
    add_background(report, data, Differences::shown, session);
    try_for_page("fit", session, [&] { add_whole_model(report, data, given.grids, context); });
  }
  write_page(flags.page, report, session);
  session.print(document_of(report));
  report_failures(*report.evaluation, session);
}

void declare_evaluate(Flags& flags, EvaluateFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("DATA... PIPELINE...", inputs.arguments,
                  "Data files, then pipelines; options in braces, key={a,b,c}, are chosen within the training rows");
  flags.complete_arguments({method_names()});
  flags.options(inputs.options);
  std::vector<std::string> scorers;
  for (const ScorerInfo& info : scorer_infos()) scorers.emplace_back(info.name);
  scorers.emplace_back("all");
  flags.text("--choose", "SCORER", inputs.choose,
             "adapt: choose a pipeline or grid point without target labels, by a scorer (auto, ..) or all",
             Need::optional, std::move(scorers));
  flags.text("--metric", "NAME", inputs.metric,
             "Metric shown (default: auroc or rmse; --choose: accuracy or rmse); sensitivity, .. imply youden");
  flags.text("--save-predictions", "FILE", inputs.predictions,
             "Write the prediction of every held-out row as CSV; rows count from 1");
  add_page_flags(flags, inputs.page);
  flags.flag("--cost", inputs.cost,
             "Also score the pipelines on new rows of known domains, by k-fold, to see what a new one costs (with "
             "--report: always)");
  flags.flag("--importance", inputs.importance,
             "Also shuffle every column among held-out rows, to see what the models use (with --report: always)");
  add_resume_flag(flags, inputs.resume);
  add_strict_flag(flags, inputs.strict);
  add_data_flags(flags, inputs.read, DataUse::evaluation);
}

}  // namespace

Verb evaluate_verb() {
  return make_verb(
      {"evaluate", "Score pipelines on domains they were not trained on", "evaluate DATA... PIPELINE... [flags]",
       "  ecotone evaluate clinics.csv --label disease --domain hospital \"impute | constant\" \"impute | scale | "
       "logistic\"\n"
       "  ecotone evaluate data.csv --label y --domain site \"scale | logistic\" --protocol k-fold --folds 10 --json\n"
       "  ecotone evaluate data.csv --label y --domain site \"constant\" \"scale | logistic l2={0.01,0.1,1}\"\n"
       "  ecotone evaluate data.csv --label y --domain site \"scale | logistic\" --target site7,site9\n"
       "  ecotone evaluate visits.csv --label y --group patient --time date \"scale | logistic\" --protocol forward "
       "--blocks 8 --gap 30\n"
       "  ecotone evaluate data.csv --label y --domain site \"scale | logistic\" --metric ppv --threshold "
       "sensitivity=0.9\n"
       "  ecotone evaluate data.csv --label y --domain site \"scale | logistic l2={0.01,0.1,1}\" --protocol adapt "
       "--choose all\n"
       "  ecotone evaluate a.csv b.csv c.csv --domain-from-file --label y \"scale | logistic\" --report "
       "report.html\n"},
      declare_evaluate, run_evaluate);
}

}  // namespace ecotone::cli
