#include "ecotone/diagnose/diagnose.h"

#include <optional>

#include "cli/arguments.h"
#include "cli/verbs.h"
#include "ecotone/data/read.h"
#include "ecotone/diagnose/represented.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct DiagnoseFlags {
  std::vector<std::string> data;
  DataFlags read;
  std::string target;
  std::optional<std::string> pipeline;
  int permutations = 499;
  int sample = 2000;
};

void run_diagnose(const DiagnoseFlags& flags, Session& session) {
  const std::vector<std::filesystem::path> files(flags.data.begin(), flags.data.end());
  require_files(files);
  const ReadOptions read = flags.read.read_options();
  DiagnoseOptions options;
  options.permutations = flags.permutations;
  options.sample = flags.sample;
  options.targets = split_list(flags.target);
  std::optional<Pipeline> pipeline;
  if (flags.pipeline) {
    pipeline = Pipeline::parse(*flags.pipeline);
    require_representation(*pipeline);
  }
  const Context& context = session.context();
  Dataset data = session.timed("read", [&] { return read_dataset(files, read, context); });
  if (pipeline) data = session.timed("fit", [&] { return represented(data, *pipeline, options.targets, context); });
  Diagnosis diagnosis = session.timed("diagnose", [&] { return diagnose(data, options, context); });
  if (pipeline) diagnosis.pipeline = pipeline->text();
  if (!session.json()) session.say(diagnosis_text(diagnosis));
  session.print(to_json(diagnosis));
}

}  // namespace

Verb diagnose_verb(CLI::App& program) {
  const auto flags = std::make_shared<DiagnoseFlags>();
  Verb verb = make_verb(
      program, {"diagnose", "Say how domains differ, in which columns, and whether weighting could help",
                "diagnose DATA... [flags]",
                "  ecotone diagnose clinics.csv --label disease --domain hospital\n"
                "  ecotone diagnose data.csv --domain site --target new_site --json\n"
                "  ecotone diagnose a.csv b.csv --domain-from-file --label y\n"
                "  ecotone diagnose data.csv --domain site --label y --pipeline \"scale | dica weight=100\"\n"});
  CLI::App& app = *verb.app;
  app.add_option("DATA...", flags->data, "Data files")->required();
  app.add_option("--target", flags->target, "Compare these domains with the others, and nothing else")
      ->type_name("A,B,..");
  app.add_option("--pipeline", flags->pipeline,
                 "Compare the features that this pipeline, fitted on the data, makes of it")
      ->type_name("PIPELINE");
  app.add_option("--permutations", flags->permutations, "Permutations of each test (default 499)")
      ->check(CLI::Range(1, 1000000).description(""))
      ->type_name("N");
  app.add_option("--sample", flags->sample, "Rows per domain that tests look at (default 2000)")
      ->check(CLI::Range(10, 20000).description(""))
      ->type_name("N");
  add_data_flags(app, flags->read, DataUse::evaluation);
  verb.run = [flags](Session& session) { run_diagnose(*flags, session); };
  return verb;
}

}  // namespace ecotone::cli
