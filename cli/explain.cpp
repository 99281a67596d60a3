#include "ecotone/trust/explain.h"

#include "cli/arguments.h"
#include "cli/page.h"
#include "cli/resume.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/read.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct ExplainFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  ExplainOptions options;
  int top = 10;
  std::string resume;
  PageFlags page;
};

void run_explain(const ExplainFlags& flags, Session& session) {
  const DataAndPipelines given = data_and_pipelines(flags.arguments);
  if (given.pipelines.size() > 1)
    option_error("usage", "explain: expected one pipeline, got {}; explain one at a time", given.pipelines.size());
  loss_by_name(flags.options.loss);
  if (flags.read.target.empty()) option_error("no_target", "explain: name the domain that does worse with --target");
  require_separate(files_read(given.data, flags.read), {flags.page.report, flags.resume});
  require_page(flags.page);
  Resume resume(flags.resume, session);
  const Context& context = session.context();
  const ReadOptions read = for_pipelines(flags.read, given.pipelines);
  const Dataset data = read_checked(given.data, read, false, session);
  Report report;
  report.explanations = resume.run([&](Journal* journal) {
    ExplainOptions options = flags.options;
    options.journal = journal;
    return session.timed("explain", [&] { return explain_targets(data, given.pipelines.front(), options, context); });
  });
  if (session.json() || flags.page.asked()) report.provenance = {provenance_of(data, given.data, read, session)};
  if (flags.page.asked()) add_background(report, data, Differences::shown, session);
  write_page(flags.page, report, session);
  if (!session.json()) session.say(explanations_text(report.explanations, static_cast<std::size_t>(flags.top)));
  session.print(document_of(report));
}

void declare_explain(Flags& flags, ExplainFlags& inputs) {
  flags.arguments("DATA... PIPELINE", inputs.arguments, "Data files with labels in the target too, then one pipeline");
  flags.complete_arguments({method_names()});
  flags.options(inputs.options);
  flags.number("--top", inputs.top, 1, 1'000, "Largest number of regions shown (default 10)");
  add_resume_flag(flags, inputs.resume);
  add_page_flags(flags, inputs.page);
  add_data_flags(flags, inputs.read, DataUse::training);
}

}  // namespace

Verb explain_verb() {
  return make_verb(
      {"explain", "Say why a domain costs more: other rows, or another relation of labels to features",
       "explain DATA... PIPELINE --target NAME [flags]",
       "  ecotone explain clinics.csv \"impute | scale | logistic\" --label disease --domain hospital --target "
       "Eastholm\n"
       "  ecotone explain clinics.csv \"trees\" --label disease --domain hospital --target Eastholm,Northgate --loss "
       "log_loss --report why.html\n"},
      declare_explain, run_explain);
}

}  // namespace ecotone::cli
