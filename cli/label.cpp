#include "cli/label.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/arguments.h"
#include "cli/label_outputs.h"
#include "cli/label_page.h"
#include "cli/label_rounds.h"
#include "cli/label_terminal.h"
#include "cli/signals.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/data/dataset_digest.h"
#include "ecotone/data/formats/byte_source.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/json/json.h"

namespace ecotone::cli {
namespace {

/// Who answers, and how.
enum class LabelMode { page, terminal, queries, answers, export_only, simulate };

/// A flag that chooses a mode.
struct ModeFlag {
  const char* name;
  LabelMode mode;
};
constexpr ModeFlag mode_flags[] = {{"--terminal", LabelMode::terminal},
                                   {"--queries", LabelMode::queries},
                                   {"--answers", LabelMode::answers},
                                   {"--export", LabelMode::export_only},
                                   {"--simulate", LabelMode::simulate}};

LabelMode mode_of(const LabelFlags& flags) {
  const ModeFlag* chosen = nullptr;
  for (const ModeFlag& flag : mode_flags) {
    if (!flags.flags->given(flag.name)) continue;
    if (chosen) option_error("idle_flag", "{} cannot be combined with {}", flag.name, chosen->name);
    chosen = &flag;
  }
  return chosen ? chosen->mode : LabelMode::page;
}

/// Refuses flags of other modes.
void refuse_idle(const LabelFlags& flags, LabelMode mode) {
  constexpr std::pair<const char*, LabelMode> of_modes[] = {
      {"--repeat", LabelMode::simulate}, {"--test-share", LabelMode::simulate}, {"--reach", LabelMode::simulate},
      {"--report", LabelMode::simulate}, {"--title", LabelMode::simulate},      {"--count", LabelMode::queries},
      {"--host", LabelMode::page},       {"--port", LabelMode::page},           {"--token", LabelMode::page}};
  for (const auto& [name, of] : of_modes) {
    if (!flags.flags->given(name) || of == mode) continue;
    const auto flag = std::ranges::find(mode_flags, of, &ModeFlag::mode);
    if (flag == std::end(mode_flags)) option_error("idle_flag", "{} works only with the page", name);
    option_error("idle_flag", "{} works only with {}", name, flag->name);
  }
  for (const char* name : {"--output", "--classes", "--images"})
    if (flags.flags->given(name) && mode == LabelMode::simulate)
      option_error("idle_flag", "{} cannot be combined with --simulate", name);
  if (mode != LabelMode::simulate && flags.strategies.size() > 1)
    option_error("idle_flag", "label: one --strategy chooses the rows, got {}; --simulate compares several",
                 flags.strategies.size());
}

/// "clinics.labels" for data/clinics.csv.gz.
std::string default_folder(const std::filesystem::path& data) {
  std::filesystem::path name = data.filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string() + ".labels";
}

/// Makes the folder; finds out before the work, not after it, whether the outputs can be written there.
void prepare_folder(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& inputs) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (!std::filesystem::is_directory(folder))
    file_error("cannot_write", "{}: cannot make this folder{}", folder.string(),
               failed ? ": " + failed.message() : std::string());
  std::vector<std::string> outputs;
  for (const char* name : {table_name, events_name, model_name}) outputs.push_back((folder / name).string());
  require_separate(inputs, outputs);
  for (const std::string& output : outputs) require_writable(output);
}

/// What a journal belongs to.
std::map<std::string, std::string> journal_facts(const Dataset& data, const LabelFlags& flags, const Context& context) {
  const auto words = digest_of(data, context).words();
  std::vector<std::string> targets = flags.options.target;
  std::ranges::sort(targets);
  return {{"data", fmt::format("{:016x}{:016x}", words[0], words[1])},
          {"label", data.schema.label},
          {"target", fmt::format("{}", fmt::join(targets, ","))}};
}

/// The classes of --classes, now and when the work began: answers of then must still have theirs.
std::vector<std::string> further_classes(const LabelFlags& flags, LabelStore& store) {
  std::vector<std::string> classes = flags.options.classes;
  const Json kept = Json::parse(store.kept("classes").value_or("[]"), nullptr, false);
  for (const Json& name : kept)
    if (name.is_string() && std::ranges::find(classes, name.get<std::string>()) == classes.end())
      classes.push_back(name.get<std::string>());
  if (!classes.empty()) store.keep("classes", Json(classes).dump());
  return classes;
}

DeskOptions desk_options(const LabelFlags& flags, LabelStore& store) {
  DeskOptions options;
  options.budget = flags.simulation.budget;
  options.audit = flags.simulation.audit;
  if (!flags.strategies.empty()) options.strategy = Strategy::parse(flags.strategies.front());
  options.classes = further_classes(flags, store);
  return options;
}

std::vector<std::string> texts_of(const std::optional<CsvTexts>& texts, const std::string& flag,
                                  const std::string& column, const Context& context) {
  if (column.empty()) return {};
  if (!texts) option_error("no_text_columns", "{} {} needs CSV files", flag, column);
  return texts->column(column, context);
}

std::optional<LabelImages> images_of(const std::optional<CsvTexts>& texts, const LabelFlags& flags,
                                     const std::vector<std::filesystem::path>& files, const Context& context) {
  if (flags.images.empty()) return std::nullopt;
  std::vector<std::filesystem::path> folders;
  for (const std::filesystem::path& file : files) folders.push_back(file.parent_path());
  return LabelImages(texts_of(texts, "--images", flags.images, context), texts->first_rows(), folders);
}

/// Waits a moment for the first model, so that the first question is chosen by it. Most fits take less; none is waited
/// for longer.
void await_model(const Desk& desk) {
  using namespace std::chrono;
  const auto end = steady_clock::now() + seconds(2);
  while (desk.progress().fitting && !cancel_flag().requested() && steady_clock::now() < end)
    std::this_thread::sleep_for(milliseconds(5));
}

/// Refuses to ask for labels that nothing can learn from: there are enough for a model, and it cannot be fitted. With
/// few labels it may be able to later, so that is only told.
void require_model(const LabelWork& work) {
  constexpr Index enough = 30;
  const DeskProgress progress = work.desk.progress();
  if (progress.fitting || progress.problem.empty()) return;
  Index labels = progress.labels;
  for (Index row = 0; row < work.data.rows(); ++row) labels += work.data.y->missing(row) ? 0 : 1;
  if (labels >= enough) data_error("cannot_fit", "{}", progress.problem);
  work.session.warn_aside(progress.advice.text);
}

/// Writes the outputs and says so.
void close_work(const LabelWork& work, std::optional<Index> stored = {}) {
  if (cancel_flag().requested())
    work.session.aside("all answers are saved; the files are being written (Ctrl-C again ends without them)");
  work.desk.catch_up();
  LabelOutputs outputs = work.session.timed("write", [&] { return write_label_outputs(work); });
  outputs.stored = stored;
  tell_label_outputs(work, work.desk.progress(), outputs);
}

void run_mode(const LabelFlags& flags, LabelMode mode, const LabelWork& work, std::optional<LabelImages> images) {
  switch (mode) {
    case LabelMode::page: {
      await_model(work.desk);
      require_model(work);
      const std::optional<LabelOutputs> written = serve_label_page(work, flags, std::move(images));
      return written ? tell_label_outputs(work, work.desk.progress(), *written) : close_work(work);
    }
    case LabelMode::terminal:
      await_model(work.desk);
      require_model(work);
      ask_in_terminal(work);
      return close_work(work);
    case LabelMode::queries:
      work.desk.catch_up();
      require_model(work);
      return write_queries(work, flags.queries, flags.count);
    case LabelMode::answers:
      return close_work(work, store_answers(work, flags.answers));
    default:
      return close_work(work);
  }
}

/// Everything that people do: opens the journal and the desk.
void run_interactive(const LabelFlags& flags, LabelMode mode, const DataAndPipelines& given, const Dataset& data,
                     const std::filesystem::path& folder, Session& session) {
  const Context context = session.uncancelled_context();
  const std::optional<CsvTexts> texts = CsvTexts::open(given.data, flags.read, data.schema, session.context());
  std::optional<LabelImages> images = images_of(texts, flags, given.data, session.context());
  LabelStore store(folder / journal_name, journal_facts(data, flags, session.context()));
  Desk desk(data, given.pipelines.front(), desk_options(flags, store), store, context);
  const LabelTask task{data, desk.classes(), texts_of(texts, "--id", flags.read.id, session.context()),
                       images ? images->names() : std::vector<std::string>(), folder.string()};
  const LabelWork work{data, texts, task, folder, store, desk, session, context};
  run_mode(flags, mode, work, std::move(images));
}

/// Columns of pictures are no features; targets are flags of this verb, because their labels are learned from.
ReadOptions read_options(const LabelFlags& flags) {
  ReadOptions read = flags.read;
  read.target = flags.options.target;
  if (!flags.images.empty() && flags.images != read.id) read.ignore.push_back(flags.images);
  return read;
}

void check_inputs(const LabelFlags& flags, const DataAndPipelines& given) {
  if (given.pipelines.size() > 1)
    option_error("usage", "label: expected one pipeline, got {}; use evaluate to compare several",
                 given.pipelines.size());
  if (std::ranges::find(given.data, "-") != given.data.end())
    option_error("bad_input", "label: the data are read again when they are written; name a file instead of '-'");
  if (flags.read.label.empty() && flags.read.labels_file.empty())
    option_error("no_label", "label: name the column to fill in with --label");
  for (const std::string& text : flags.strategies) Strategy::parse(text);
  if (!flags.answers.empty()) require_files({flags.answers});
  require_csv_name("--queries", flags.queries);
  require_html_name("--report", flags.report);
}

void run_label(const LabelFlags& flags, Session& session) {
  const LabelMode mode = mode_of(flags);
  refuse_idle(flags, mode);
  const DataAndPipelines given = data_and_pipelines(flags.arguments);
  check_inputs(flags, given);
  if (mode == LabelMode::page) page_settings(flags);  // refuses before anything is read
  const std::vector<std::filesystem::path> inputs = files_read(given.data, flags.read);
  require_separate(inputs, {flags.queries, flags.report});
  require_writable(flags.queries);
  require_writable(flags.report);
  const Dataset data = read_checked(given.data, read_options(flags), flags.strict, session);
  if (!data.y) data_error("no_labels", "label: the data have no label column; name it with --label");
  if (mode == LabelMode::simulate) return simulate_labels(flags, data, given.pipelines.front(), session);
  const std::filesystem::path folder = flags.folder.empty() ? default_folder(given.data.front()) : flags.folder;
  prepare_folder(folder, inputs);
  run_interactive(flags, mode, given, data, folder, session);
}

void declare_label(Flags& flags, LabelFlags& inputs) {
  inputs.flags = &flags;
  flags.arguments("DATA... PIPELINE", inputs.arguments,
                  "Data files, then one pipeline: \"stage key=value | stage ...\"");
  flags.complete_arguments({method_names()});
  flags.options(inputs.simulation, {"budget", "audit"});
  flags.texts("--strategy", "TEXT", inputs.strategies,
              "How rows are chosen, such as \"entropy batch=5 explore=0.1\"; with --simulate repeat to compare");
  flags.options(inputs.options);
  flags.text("--output,-o", "FOLDER", inputs.folder,
             "Journal and outputs (default: the first file's name and .labels)");
  add_strict_flag(flags, inputs.strict);
  flags.group("How to answer (default: on a page in the browser)");
  flags.flag("--terminal", inputs.terminal, "Ask here, with the keys of the page");
  flags.text("--queries", "FILE.csv", inputs.queries, "Write the next questions for a spreadsheet");
  flags.number("--count", inputs.count, 1, 1'000'000, "--queries: how many, if the budget leaves as many (default 20)");
  flags.text("--answers", "FILE.csv", inputs.answers, "Read the answers of a spreadsheet");
  flags.flag("--export", inputs.export_only, "Write labelled.csv, journal.jsonl and model.eco and ask nothing");
  flags.text("--images", "COLUMN", inputs.images, "Show the picture that this column names, beside each row");
  flags.number("--port", inputs.port, 0, 65535, "Port of the page (default 0: any that is free)");
  flags.text("--host", "ADDRESS", inputs.host, "Serve the page on this address, also to others; needs --token");
  flags.text("--token", "TEXT", inputs.token, "The secret in the page's address (default: a random one)");
  flags.group("Simulation, of data that have all labels");
  flags.flag("--simulate", inputs.simulate, "Hide the target's labels and show what they are worth by strategy");
  flags.options(inputs.simulation, {"repeat", "test_share", "reach"});
  flags.text("--report", "FILE.html", inputs.report, "Write a self-contained HTML report");
  flags.text("--title", "TEXT", inputs.title, "Title of the report");
  flags.group("");
  add_data_flags(flags, inputs.read, DataUse::evaluation);
}

}  // namespace

Verb label_verb() {
  return make_verb(
      {"label", "Label rows of a new domain, the most useful ones first",
       "label DATA... PIPELINE --label COLUMN [flags]",
       "  ecotone label data.csv \"impute | scale | logistic\" --label y --domain site --target new --budget 200\n"
       "  ecotone label data.csv \"impute | scale | logistic\" --label y --domain site --target new --terminal\n"
       "  ecotone label data.csv \"scale | logistic\" --label y --domain site --target new --queries round1.csv\n"
       "  ecotone label data.csv \"scale | logistic\" --label y --domain site --target new --answers round1.csv\n"
       "  ecotone label clinics.csv \"impute | scale | logistic\" --label disease --domain hospital --target "
       "Brightwater --simulate --strategy entropy\n"},
      declare_label, run_label);
}

}  // namespace ecotone::cli
