#include "ecotone/trust/expect.h"

#include <filesystem>
#include <numeric>
#include <utility>

#include "cli/arguments.h"
#include "cli/page.h"
#include "cli/resume.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/categories.h"
#include "ecotone/data/read.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/text/text.h"

namespace ecotone::cli {
namespace {

struct ExpectFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  ExpectOptions options;
  std::vector<std::string> fresh;
  std::string resume;
  PageFlags page;
  const Flags* flags = nullptr;
};

/// The domains of new rows, or all rows under the name of their first file.
std::vector<TargetSample> samples_of(const Dataset& data, const std::vector<std::filesystem::path>& files,
                                     bool by_domain, const Context& context) {
  const Dataset compared = levels_to_compare(data, context.observed_by(nullptr));
  const auto without_weight = [&](Index row) { return data.weight.size() > 0 && data.weight[row] == 0; };
  if (!by_domain) {
    std::vector<Index> rows(at(data.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    const bool all = std::erase_if(rows, without_weight) == 0;
    return {{files.front().filename().string(),
             {all ? data.x : data.x.take(rows), std::nullopt, data.origin},
             {all ? compared.x : compared.x.take(rows), std::nullopt}}};
  }
  std::vector<TargetSample> samples;
  for (Index d = 0; d < data.domain.count(); ++d) {
    std::vector<Index> rows = data.domain.rows_of(d);
    std::erase_if(rows, without_weight);
    samples.push_back({data.domain.names[at(d)], batch(data, rows), batch(compared, rows)});
  }
  return samples;
}

std::vector<TargetSample> read_samples(const std::vector<std::filesystem::path>& files, const Schema& schema, Task task,
                                       ReadOptions read, Session& session) {
  read.task = task;
  read.label.clear();
  read.target.clear();
  const Dataset data = session.timed("read", [&] { return read_for_model(files, schema, read, session.context()); });
  if (data.rows() == 0) data_error("empty_data", "expect: {} has no rows", files.front().string());
  return samples_of(data, files, read.domain_from_file || !data.schema.domain.empty(), session.context());
}

void finish(const ExpectFlags& flags, Report report, Session& session) {
  write_page(flags.page, report, session);
  if (!session.json()) session.say(expectations_text(report.expectations));
  session.print(document_of(report));
}

/// MODEL NEW...
void expect_of_model(const ExpectFlags& flags, Session& session) {
  const std::vector<std::filesystem::path> paths(flags.arguments.begin(), flags.arguments.end());
  require_files(paths);
  if (paths.size() < 2)
    option_error("no_data", "expect: give a model and new rows, or data, a pipeline and --target or --new");
  if (!flags.fresh.empty())
    option_error("idle_flag", "--new goes with data and a pipeline; the rows stand behind the model");
  if (flags.flags->given("--replay"))
    option_error("idle_flag", "--replay goes with data and a pipeline; a model has its replays from fit --expect");
  for (const char* name : {"--target", "--label", "--ignore", "--features"})
    if (flags.flags->given(name))
      option_error("idle_flag",
                   "{} goes with data and a pipeline; a model knows its columns, and its rows stand behind it", name);
  require_separate(paths, {flags.page.report});
  require_page(flags.page);
  const Model model = session.timed("load", [&] { return Model::load(paths.front()); });
  const ExpectBasis basis = expect_basis(model, paths.front().string());
  Report report;
  for (const TargetSample& sample :
       read_samples({paths.begin() + 1, paths.end()}, model.schema(), model.task(), flags.read, session))
    report.expectations.push_back(expect_model(model, basis, sample, flags.options.level, session.context()));
  if (session.json() || flags.page.asked()) report.provenance = {provenance_of(session)};
  finish(flags, std::move(report), session);
}

/// How to read new rows beside training rows, whose columns the flags name: what those have beside features may be
/// lacking here, and is found by the schema where it is not.
ReadOptions for_new_rows(ReadOptions read) {
  for (std::string* column : {&read.domain, &read.weight, &read.group, &read.time}) column->clear();
  return read;
}

/// DATA... PIPELINE with --target or --new.
void expect_of_pipeline(const ExpectFlags& flags, Session& session) {
  const DataAndPipelines given = data_and_pipelines(flags.arguments);
  if (given.pipelines.size() > 1)
    option_error("usage", "expect: expected one pipeline, got {}; use evaluate to compare several",
                 given.pipelines.size());
  const std::vector<std::filesystem::path> fresh(flags.fresh.begin(), flags.fresh.end());
  require_files(fresh);
  if (fresh.empty() && flags.read.target.empty())
    option_error("no_target", "expect: name the domain without labels with --target, or give its rows with --new");
  if (!fresh.empty() && !flags.read.target.empty())
    option_error("idle_flag", "expect: --target names a domain of the data and --new gives rows of another; use one");
  require_separate(files_read(given.data, flags.read), {flags.page.report, flags.resume});
  require_page(flags.page);
  Resume resume(flags.resume, session);
  const Context& context = session.context();
  const ReadOptions read = for_pipelines(flags.read, given.pipelines);
  const Dataset data = read_checked(given.data, read, false, session);
  if (!data.y) data_error("no_labels", "expect: the data have no label column; name it with --label");
  Report report;
  report.expectations = resume.run([&](Journal* journal) {
    ExpectOptions options = flags.options;
    options.journal = journal;
    const Pipeline& pipeline = given.pipelines.front();
    if (fresh.empty()) return session.timed("expect", [&] { return expect_targets(data, pipeline, options, context); });
    const auto samples = read_samples(fresh, data.schema, data.y->task, for_new_rows(flags.read), session);
    return session.timed("expect", [&] { return expect_targets(data, pipeline, samples, options, context); });
  });
  if (session.json() || flags.page.asked()) report.provenance = {provenance_of(data, given.data, read, session)};
  if (flags.page.asked()) add_background(report, data, Differences::shown, session);
  finish(flags, std::move(report), session);
}

void run_expect(const ExpectFlags& flags, Session& session) {
  if (has_pipeline(flags.arguments)) return expect_of_pipeline(flags, session);
  expect_of_model(flags, session);
}

void declare_expect(Flags& flags, ExpectFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("DATA... PIPELINE | MODEL NEW...", inputs.arguments,
                  "Labelled data and a pipeline, or a model from `ecotone fit --expect` and rows of a new domain");
  flags.complete_arguments({method_names()});
  flags.texts("--new", "FILE", inputs.fresh, "Rows of the new domain, without labels; repeat for several files");
  flags.options(inputs.options);
  add_resume_flag(flags, inputs.resume);
  add_page_flags(flags, inputs.page);
  add_data_flags(flags, inputs.read, DataUse::training);
}

}  // namespace

Verb expect_verb() {
  return make_verb({"expect", "Say what a model will score in a domain without labels, with an interval",
                    "expect DATA... PIPELINE --target NAME [flags], or expect MODEL NEW... [flags]",
                    "  ecotone expect clinics.csv \"impute | scale | logistic\" --label disease --domain hospital "
                    "--target Eastholm\n"
                    "  ecotone expect clinics.csv \"trees\" --label disease --domain hospital --new next_hospital.csv\n"
                    "  ecotone fit clinics.csv \"impute | scale | logistic\" --label disease --domain hospital "
                    "--expect -o model.eco\n"
                    "  ecotone expect model.eco next_hospital.csv --report expected.html\n"},
                   declare_expect, run_expect);
}

}  // namespace ecotone::cli
