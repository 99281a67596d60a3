#include "ecotone/evaluate/tune/tune.h"

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/page.h"
#include "cli/resume.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/read.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/one_answer.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct TuneFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  TuneOptions options;
  std::string output;
  std::string resume;
  bool no_rows = false;
  bool strict = false;
  PageFlags page;
  const Flags* flags = nullptr;
};

void run_tune(const TuneFlags& flags, Session& session) {
  if (flags.flags->given("--draws") && flags.options.search != Search::random)
    option_error("idle_flag", "--draws works only with --search random");
  if (flags.no_rows && flags.output.empty()) option_error("idle_flag", "--no-rows works only with -o");
  const DataAndSpaces given = data_and_spaces(flags.arguments);
  require_separate(files_read(given.data, flags.read), {flags.output, flags.resume, flags.page.report});
  require_writable(flags.output);
  require_page(flags.page);
  const Context& context = session.context();
  const std::vector<Pipeline> points = search_points(given.pipelines, flags.options, context);
  Resume resume(flags.resume, session);
  const Dataset data = read_checked(given.data, for_pipelines(flags.read, points), flags.strict, session);
  const Tuning tuning = resume.run([&](Journal* journal) {
    TuneOptions options = flags.options;
    options.journal = journal;
    return session.timed("tune", [&] { return tune(data, points, options, context); });
  });
  Report report;
  report.tuning = tuning;
  if (session.json() || flags.page.asked()) report.provenance = {provenance_of(data, given.data, flags.read, session)};
  if (flags.page.asked()) add_background(report, data, Differences::left_out, session);
  write_page(flags.page, report, session);
  Json document = document_of(report);
  std::string text = tuning_table(tuning);
  if (!flags.output.empty()) {
    const TrainView view = train_view(data, context);
    const Model model =
        session.timed("fit", [&] { return Model::fit(points[tuning.chosen], view, data.schema, context); });
    warn_one_answer(model, view, context);
    context.check_cancelled();
    if (flags.no_rows) model.require_no_rows();
    session.timed("write", [&] { model.save(flags.output); });
    document["output"] = flags.output;
    text += fmt::format("wrote    {}\n", flags.output);
  }
  session.say(text);
  session.print(std::move(document));
}

void declare_tune(Flags& flags, TuneFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("DATA... PIPELINE...", inputs.arguments,
                  "Data files, then pipelines whose options may be lists {a,b,c} or, for random, ranges {low..high}");
  flags.complete_arguments({method_names()});
  flags.options(inputs.options);
  flags.output(inputs.output, "Also fit the chosen pipeline on all labelled rows and write the model (.eco)");
  flags.flag("--no-rows", inputs.no_rows, "Refuse to write a model that holds training rows");
  add_page_flags(flags, inputs.page);
  add_resume_flag(flags, inputs.resume);
  add_strict_flag(flags, inputs.strict);
  add_data_flags(flags, inputs.read, DataUse::training);
}

}  // namespace

Verb tune_verb() {
  return make_verb({"tune", "Tune a pipeline's options by cross-validation within the training domains",
                    "tune DATA... PIPELINE... [flags]",
                    "  ecotone tune clinics.csv \"impute | scale | logistic l2={0.001,0.01,0.1,1}\" --label disease "
                    "--domain hospital -o model.eco\n"
                    "  ecotone tune data.csv \"scale | logistic l2={1e-4..1} l1={0,1e-3}\" --label y --domain site "
                    "--search random --draws 30\n"},
                   declare_tune, run_tune);
}

}  // namespace ecotone::cli
