#include "ecotone/diagnose/diagnose.h"

#include <algorithm>
#include <optional>

#include "cli/arguments.h"
#include "cli/page.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/read.h"
#include "ecotone/diagnose/represented.h"
#include "ecotone/diagnose/sums_diagnosis.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct DiagnoseFlags {
  std::vector<std::string> data;
  ReadOptions read;
  std::string pipeline;
  bool strict = false;
  DiagnoseOptions options;
  int top = 10;
  PageFlags page;
  const Flags* flags = nullptr;
};

/// From sums of `ecotone partial`, without rows.
void diagnose_sums(const std::vector<std::filesystem::path>& files, const DiagnoseFlags& flags, Session& session) {
  refuse_data_flags(*flags.flags, "sums are taken as they are");
  for (const char* name : {"--target", "--pipeline", "--permutations", "--sample", "--report", "--strict"})
    if (flags.flags->given(name)) option_error("idle_flag", "{} needs rows, and these files hold sums", name);
  const SumsDiagnosis found = diagnose_parts(load_parts(files), session.context());
  session.say(sums_diagnosis_text(found, static_cast<std::size_t>(flags.top)));
  session.print(to_json(found));
}

void run_diagnose(const DiagnoseFlags& flags, Session& session) {
  const std::vector<std::filesystem::path> files(flags.data.begin(), flags.data.end());
  require_files(files);
  if (std::ranges::any_of(files, holds_parts)) return diagnose_sums(files, flags, session);
  require_separate(files_read(files, flags.read), {flags.page.report});
  require_page(flags.page);
  std::optional<Pipeline> pipeline;
  if (flags.flags->given("--pipeline")) {
    pipeline = Pipeline::parse(flags.pipeline);
    require_representation(*pipeline);
  }
  const Context& context = session.context();
  Dataset data = read_checked(files, flags.read, flags.strict, session);
  Report report;
  if (session.json() || flags.page.asked()) report.provenance = {provenance_of(data, files, flags.read, session)};
  if (flags.page.asked()) {
    add_background(report, data, Differences::left_out, session);
    try_for_page("projections", session, [&] { report.projections = projections_of(data, context); });
  }
  if (pipeline)
    data = session.timed("fit", [&] { return represented(data, *pipeline, flags.options.targets, context); });
  Diagnosis diagnosis = session.timed("diagnose", [&] { return diagnose(data, flags.options, context); });
  if (pipeline) diagnosis.pipeline = pipeline->text();
  report.diagnosis = std::move(diagnosis);
  write_page(flags.page, report, session);
  if (!session.json()) session.say(diagnosis_text(*report.diagnosis, static_cast<std::size_t>(flags.top)));
  session.print(document_of(report));
}

void declare_diagnose(Flags& flags, DiagnoseFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("DATA...", inputs.data, "Data files, or files of sums from `ecotone partial`");
  flags.options(inputs.options, {"target"});
  flags.text("--pipeline", "PIPELINE", inputs.pipeline, "Fit this pipeline and compare the features it produces");
  flags.number("--top", inputs.top, 1, 1'000'000, "Largest number of lines of each table (default 10); JSON has all");
  flags.options(inputs.options, {"permutations", "sample"});
  add_page_flags(flags, inputs.page);
  add_strict_flag(flags, inputs.strict);
  add_data_flags(flags, inputs.read, DataUse::evaluation);
}

}  // namespace

Verb diagnose_verb() {
  return make_verb({"diagnose", "Report how domains differ, in which columns, and whether weighting could help",
                    "diagnose DATA... [flags]",
                    "  ecotone diagnose clinics.csv --label disease --domain hospital\n"
                    "  ecotone diagnose data.csv --domain site --target new_site --json\n"
                    "  ecotone diagnose a.csv b.csv --domain-from-file --label y\n"
                    "  ecotone diagnose north.eco south.eco\n"
                    "  ecotone diagnose data.csv --domain site --label y --pipeline \"scale | dica weight=100\"\n"},
                   declare_diagnose, run_diagnose);
}

}  // namespace ecotone::cli
