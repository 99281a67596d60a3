#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/ranks.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/choose/guard.h"
#include "ecotone/data/read.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/one_answer.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/trust/expect.h"

namespace ecotone::cli {
namespace {

struct FitFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  std::string output;
  bool guard = false;
  bool no_rows = false;
  bool expect = false;
  bool strict = false;
};

Model fit_model(const FitFlags& flags, const Pipeline& pipeline, const Dataset& data, const TrainView& view,
                const Context& context) {
  if (flags.guard) return guarded_fit(pipeline, view, data.schema, {}, context).model;
  return Model::fit(pipeline, view, data.schema, context);
}

void run_fit(const FitFlags& flags, Session& session) {
  const DataAndPipelines given = data_and_pipelines(flags.arguments);
  if (given.pipelines.size() > 1)
    option_error("usage", "fit: expected one pipeline, got {}; use evaluate to compare several",
                 given.pipelines.size());
  const Pipeline& pipeline = given.pipelines.front();
  if (flags.guard) plain_counterpart(pipeline, Task::classify);  // refuses before anything is read
  require_separate(files_read(given.data, flags.read), {flags.output});
  if (session.leads()) require_writable(flags.output);
  const Context& context = session.context();
  ReadOptions read = for_pipelines(flags.read, given.pipelines);
  // What else is asked for comes from fits that every rank makes by itself.
  read.own_rows = pipeline.shared_by_ranks() && !flags.guard && !flags.expect;
  const Dataset data = read_checked(given.data, read, flags.strict, session);
  require_rows_for_ranks(data, context);
  const TrainView view = train_view(data, context);
  if (data.y && data.rows() > 0 && view.labelled() == 0 && pipeline.predicts())
    data_error("no_labels", "fit: no row of a source domain has a label in column '{}'", data.schema.label);
  Model model = session.timed("fit", [&] { return fit_model(flags, pipeline, data, view, context); });
  if (flags.expect)
    model = session.timed("expect", [&] {
      return model.with_note("expect", note_of(expect_basis(data, model.pipeline(), ExpectOptions{}, context)));
    });
  warn_one_answer(model, view, context);
  context.check_cancelled();
  if (flags.no_rows) model.require_no_rows();
  if (!goes_on_to_write(session)) return;
  session.timed("write", [&] { model.save(flags.output); });
  session.say(fit_text(model, data, view, guard_note(model, flags.output)) +
              fmt::format("wrote    {}\n", flags.output));
  Json document = fit_json(model, data, view);
  document["output"] = flags.output;
  session.print(std::move(document));
}

void declare_fit(Flags& flags, FitFlags& inputs) {
  flags.arguments("DATA... PIPELINE", inputs.arguments,
                  "Data files, then one pipeline: \"stage key=value | stage ...\"");
  flags.complete_arguments({method_names()});
  flags.output(inputs.output, "The model file to write (.eco)", Need::required);
  flags.flag(
      "--guard", inputs.guard,
      "Adapt to the target, or match domains, only if sources reach it and the estimated gain exceeds its noise");
  flags.flag("--expect", inputs.expect,
             "Also learn how the pipeline fares in domains that it has not seen, for `ecotone expect MODEL NEW`");
  flags.flag("--no-rows", inputs.no_rows, "Refuse to write a model that holds training rows");
  add_strict_flag(flags, inputs.strict);
  add_data_flags(flags, inputs.read, DataUse::training);
}

}  // namespace

Verb fit_verb() {
  return make_verb(
      {"fit", "Fit a pipeline on all labelled rows and save the model", "fit DATA... PIPELINE -o MODEL [flags]",
       "  ecotone fit clinics.csv \"impute | scale | logistic l2=0.01\" --label disease --domain hospital -o "
       "model.eco\n"
       "  ecotone fit data.csv \"scale | logistic\" --label y --domain site --target site4 -o model.eco\n"
       "  ecotone fit data.csv \"scale | weight.logistic | logistic\" --label y --domain site --target site4 --guard "
       "-o "
       "model.eco\n"
       "  ecotone fit data.csv \"impute strategy=median indicator=true | scale\" -o prepare.eco\n"},
      declare_fit, run_fit);
}

}  // namespace ecotone::cli
