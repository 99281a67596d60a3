#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/page.h"
#include "cli/resume.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/base/file.h"
#include "ecotone/report/html/figure_svg.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/reproduce/experiment.h"

namespace ecotone::cli {
namespace {

struct ReproduceFlags {
  std::string name;
  std::string example, table, figure, item;
  int repetitions = 0;
  std::string data;
  std::string out;
  std::string resume;
  PageFlags page;
  bool list = false;
};

void list(const ReproduceFlags& flags, Session& session) {
  std::vector<Experiment> shown;
  for (const EmbeddedExperiment& embedded : embedded_experiments())
    if (flags.name.empty() || embedded.name == flags.name) shown.push_back(experiment(embedded.name));
  Json all = Json::array();
  for (const Experiment& each : shown) all.push_back(to_json(each));
  session.say(experiments_text(shown));
  session.print({{"experiments", all}});
}

const ExperimentItem& chosen_item(const Experiment& experiment, const ReproduceFlags& flags) {
  const std::pair<const std::string*, const char*> given[] = {
      {&flags.example, "example"}, {&flags.table, "table"}, {&flags.figure, "figure"}, {&flags.item, ""}};
  if (std::ranges::count_if(given, [](const auto& one) { return !one.first->empty(); }) > 1)
    option_error("usage", "reproduce: give one of --example, --table, --figure or --item");
  for (const auto& one : given)
    if (!one.first->empty()) return experiment.item(*one.first, one.second);
  std::vector<std::string> there;
  for (const ExperimentItem& item : experiment.items) there.push_back(fmt::format("--{} {}", item.sort, item.name));
  option_error("no_item", "reproduce: choose a part of {}: {}", experiment.name, fmt::join(there, ", "));
}

/// Writes SVG and CSV of every picture to a folder, which is created if needed.
std::vector<std::string> write_figures(const Figures& figures, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) file_error("cannot_write", "{}: {}", folder.string(), failed.message());
  std::vector<std::string> written;
  const auto write = [&](const auto& figure) {
    written.push_back((folder / (figure.name + ".svg")).string());
    write_text(written.back(), figure_svg(figure));
    written.push_back((folder / (figure.name + ".csv")).string());
    write_text(written.back(), figure_csv(figure));
  };
  for (const LineChart& chart : figures.charts) write(chart);
  for (const RegionMap& map : figures.maps) write(map);
  return written;
}

/// -o names a folder; refuses a file name, which would silently become a folder of that name.
void check_folder(const std::string& name) {
  const std::filesystem::path path(name);
  if (path.extension() == ".svg" || path.extension() == ".csv")
    option_error(
        "bad_output", "reproduce: there are several pictures, so -o needs a folder, and '{}' names a file; use '{}'",
        name,
        path.has_stem() && path.stem() != path.filename() ? (path.parent_path() / path.stem()).string() : "pictures");
}

void run_reproduce(const ReproduceFlags& flags, Session& session) {
  if (flags.list) {
    if (!flags.name.empty()) (void)experiment(flags.name);
    return list(flags, session);
  }
  if (flags.name.empty())
    option_error("usage", "reproduce: no experiment given; `ecotone reproduce --list` shows all experiments");
  const Experiment found = experiment(flags.name);
  const ExperimentItem& item = chosen_item(found, flags);
  check_folder(flags.out);
  require_page(flags.page);
  ReproduceOptions options{.repetitions = flags.repetitions, .data = flags.data};
  Resume resume(flags.resume, session);
  // A folder for the pictures of a table is an error; a page shows them where there are some.
  const bool draws = !flags.out.empty() || (flags.page.asked() && has_figures(item));
  const Figures figures = draws ? draw_figures(found, item, session.context()) : Figures{};
  const Reproduction result = resume.run([&](Journal* journal) {
    options.journal = journal;
    return session.timed("reproduce", [&] { return reproduce(found, item, options, session.context()); });
  });
  session.say(reproduction_table(result));
  Report report;
  report.reproductions = {result};
  report.figures = figures;
  report.provenance = {provenance_of(session)};
  write_page(flags.page, report, session);
  Json json = document_of(report);
  if (!flags.out.empty()) {
    json["files"] = write_figures(figures, flags.out);
    for (const Json& file : json["files"]) session.say(fmt::format("wrote {}\n", file.get<std::string>()));
  }
  session.print(json);
}

void declare_reproduce(Flags& flags, ReproduceFlags& inputs) {
  flags.argument("NAME", inputs.name, "The experiment; --list shows them all");
  flags.text("--example", "ITEM", inputs.example, "An example of the experiment");
  flags.text("--table", "ITEM", inputs.table, "A table of the experiment");
  flags.text("--figure", "ITEM", inputs.figure, "A figure of the experiment");
  flags.text("--item", "ITEM", inputs.item, "Any part of the experiment, by its name");
  flags.number("--repetitions", inputs.repetitions, 1, 1'000'000,
               "Number of repetitions (default: the experiment's own)");
  flags.text("--data", "DIR", inputs.data, "Folder of the data files, for parts that need them");
  flags.text("--output,-o", "DIR", inputs.out, "Folder for the pictures of a figure (SVG) and their data (CSV)");
  add_page_flags(flags, inputs.page);
  add_resume_flag(flags, inputs.resume);
  flags.flag("--list", inputs.list, "Show all experiments, or the one named, with their parts");
  ArgumentWords words{.files = false};
  for (const EmbeddedExperiment& each : embedded_experiments()) words.words.emplace_back(each.name);
  flags.complete_arguments(std::move(words));
}

}  // namespace

Verb reproduce_verb() {
  return make_verb({"reproduce", "Rerun a paper's experiment, with published results beside ours",
                    "reproduce NAME --example|--table|--figure|--item ITEM [flags]",
                    "  ecotone reproduce --list\n"
                    "  ecotone reproduce sayed2022 --example weighting\n"
                    "  ecotone reproduce sayed2022 --example weighting --repetitions 10 --seed 1 --json\n"
                    "  ecotone reproduce habrard2012 --figure 3 -o FOLDER\n"},
                   declare_reproduce, run_reproduce);
}

}  // namespace ecotone::cli
