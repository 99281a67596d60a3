#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/arguments.h"
#include "cli/page.h"
#include "cli/resume.h"
#include "cli/verbs.h"
#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/report/html/charts/figure_svg.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/reproduce/experiment.h"

namespace ecotone::cli {
namespace {

constexpr std::string_view all_experiments = "all";

struct ReproduceFlags {
  std::string name;
  std::string example, table, figure, item;
  int repetitions = 0;
  std::string data;
  std::string out;
  std::string resume;
  PageFlags page;
  bool list = false;
  bool quick = false;
};

/// An experiment and those of its items that are to be run.
struct Chosen {
  Experiment experiment;
  std::vector<const ExperimentItem*> items;
};

void list(const ReproduceFlags& flags, Session& session) {
  std::vector<Experiment> shown;
  for (const EmbeddedExperiment& embedded : embedded_experiments())
    if (flags.name.empty() || flags.name == all_experiments || embedded.name == flags.name)
      shown.push_back(experiment(embedded.name));
  Json all = Json::array();
  for (const Experiment& each : shown) all.push_back(to_json(each));
  session.say(experiments_text(shown));
  session.print({{"experiments", all}});
}

/// The sort and the name of the one item that a flag asks for; an empty name: all items.
std::pair<std::string, std::string> asked_item(const ReproduceFlags& flags) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& [sort, name] : {std::pair("example", &flags.example), std::pair("table", &flags.table),
                                   std::pair("figure", &flags.figure), std::pair("", &flags.item)})
    if (!name->empty()) given.emplace_back(sort, *name);
  if (given.size() > 1) option_error("usage", "reproduce: give one of --example, --table, --figure or --item");
  return given.empty() ? std::pair<std::string, std::string>() : given.front();
}

/// One item, all of an experiment, or all of all; what shows another item in another way is run with that one.
std::vector<Chosen> chosen_items(const ReproduceFlags& flags) {
  std::vector<std::string> names{flags.name};
  if (flags.name == all_experiments || (flags.name.empty() && flags.quick)) {
    names.clear();
    for (const EmbeddedExperiment& embedded : embedded_experiments()) names.emplace_back(embedded.name);
  } else if (flags.name.empty()) {
    option_error("usage", "reproduce: no experiment given; `ecotone reproduce --list` shows all experiments");
  }
  const auto [sort, asked] = asked_item(flags);
  if (!asked.empty() && names.size() > 1)
    option_error("usage", "reproduce: name the experiment that {} '{}' is part of", sort.empty() ? "item" : sort,
                 asked);
  std::vector<Chosen> chosen;
  for (const std::string& name : names) {
    Chosen& each = chosen.emplace_back(Chosen{experiment(name, flags.quick), {}});
    if (!asked.empty()) {
      each.items = {&each.experiment.item(asked, sort)};
    } else {
      for (const ExperimentItem& item : each.experiment.items)
        if (item.same_as.empty()) each.items.push_back(&item);
    }
  }
  return chosen;
}

/// --data, or else ECOTONE_DATA.
std::filesystem::path data_folder(const ReproduceFlags& flags) {
  if (!flags.data.empty()) return flags.data;
  const char* folder = std::getenv("ECOTONE_DATA");
  return folder == nullptr ? "" : folder;
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
  for (const ScatterChart& chart : figures.scatters) write(chart);
  for (const DotChart& chart : figures.dots) write(chart);
  for (const RegionMap& map : figures.maps) write(map);
  return written;
}

void require_figures(const Experiment& experiment, const ExperimentItem& item) {
  if (!has_figures(item))
    option_error("idle_flag", "-o works only with items that draw pictures; {} {} of {} is a table", item.sort,
                 item.name, experiment.name);
}

/// -o names a folder; refuses a file name, which would silently become a folder of that name, and a folder that could
/// not be written to, which is found out before the work.
void require_folder(const std::string& name) {
  if (name.empty()) return;
  const std::filesystem::path path(name);
  if (path.extension() == ".svg" || path.extension() == ".csv" || path.extension() == ".html")
    option_error(
        "bad_output", "reproduce: there are several pictures, so -o needs a folder, and '{}' names a file; use '{}'",
        name,
        path.has_stem() && path.stem() != path.filename() ? (path.parent_path() / path.stem()).string() : "pictures");
  std::filesystem::path there = std::filesystem::absolute(path);
  while (!std::filesystem::exists(there) && there.has_relative_path()) there = there.parent_path();
  if (!std::filesystem::is_directory(there))
    file_error("cannot_write", "reproduce: cannot write to the folder {}: {} is a file", name, there.string());
  require_writable((there / "pictures").string());
}

/// Refuses, before the first of several items is run, what one of them would refuse.
void require_runs(const ReproduceFlags& flags, const std::vector<Chosen>& chosen) {
  bool reads = false;
  for (const Chosen& each : chosen)
    for (const ExperimentItem* item : each.items) {
      require_repetitions(each.experiment, *item, flags.repetitions);
      reads = reads || reads_data(*item);
    }
  const bool several = chosen.size() > 1 || chosen.front().items.size() > 1;
  if (several && !reads && !flags.data.empty())
    option_error("idle_flag", "--data works only with items that read files; {} generates its data", flags.name);
}

/// Runs one item of several; if its data are missing or bad it is left out, which a warning says.
std::optional<Reproduction> run_item(const Experiment& experiment, const ExperimentItem& item, ReproduceOptions options,
                                     bool only, Session& session) {
  try {
    if (!reads_data(item) && !only) options.data.clear();
    return session.timed("reproduce", [&] { return reproduce(experiment, item, options, session.context()); });
  } catch (const Error& error) {
    const bool about_data =
        error.code() == "no_data" || error.kind() == ErrorKind::data || error.kind() == ErrorKind::file;
    if (only || !about_data || !reads_data(item)) throw;
    session.context().warn("left_out", "{} {} of {} is left out: {}", item.sort, item.name, experiment.name,
                           error.what());
    return std::nullopt;
  }
}

void run_reproduce(const ReproduceFlags& flags, Session& session) {
  if (flags.list) {
    if (!flags.name.empty() && flags.name != all_experiments) (void)experiment(flags.name);
    if (flags.quick || !asked_item(flags).second.empty() || !flags.out.empty() || flags.page.asked())
      option_error("idle_flag", "reproduce: --list shows what there is and runs nothing; leave out the other flags");
    return list(flags, session);
  }
  const std::vector<Chosen> chosen = chosen_items(flags);
  const bool only = chosen.size() == 1 && chosen.front().items.size() == 1;
  require_folder(flags.out);
  require_page(flags.page);
  require_runs(flags, chosen);
  if (only && !flags.out.empty()) require_figures(chosen.front().experiment, *chosen.front().items.front());
  ReproduceOptions options{.repetitions = flags.repetitions, .data = data_folder(flags)};
  // An item that reads no data takes none; a folder that is set for the whole session does not mean this item.
  if (only && flags.data.empty() && !reads_data(*chosen.front().items.front())) options.data.clear();
  options.draw = !flags.out.empty() || flags.page.asked() || session.json();
  Resume resume(flags.resume, session);
  Report report;
  report.reproductions = resume.run([&](Journal* journal) {
    options.journal = journal;
    std::vector<Reproduction> results;
    for (const Chosen& each : chosen)
      for (const ExperimentItem* item : each.items)
        if (auto result = run_item(each.experiment, *item, options, only, session)) {
          if (!results.empty()) session.say("\n");
          session.say(reproduction_table(*result));
          results.push_back(std::move(*result));
        }
    return results;
  });
  if (report.reproductions.empty() && options.data.empty())
    option_error("no_data", "reproduce: nothing could be run without data; name their folder with --data");
  if (report.reproductions.empty())
    option_error("no_data", "reproduce: nothing could be run with the data in {}", options.data.string());
  report.provenance = {provenance_of(session)};
  write_page(flags.page, report, session);
  Json json = document_of(report);
  if (!flags.out.empty()) {
    json["files"] = Json::array();
    for (const Reproduction& each : report.reproductions) {
      const std::filesystem::path folder =
          only ? std::filesystem::path(flags.out)
               : std::filesystem::path(flags.out) / fmt::format("{}_{}{}", each.experiment, each.sort, each.item);
      if (each.figures.empty()) continue;
      for (const std::string& file : write_figures(each.figures, folder)) {
        json["files"].push_back(file);
        session.say(fmt::format("wrote {}\n", file));
      }
    }
  }
  session.print(json);
}

void declare_reproduce(Flags& flags, ReproduceFlags& inputs) {
  flags.argument("NAME", inputs.name, "The experiment, or `all`; --list shows them");
  flags.text("--example", "ITEM", inputs.example, "An example of the experiment");
  flags.text("--table", "ITEM", inputs.table, "A table of the experiment");
  flags.text("--figure", "ITEM", inputs.figure, "A figure of the experiment");
  flags.text("--item", "ITEM", inputs.item, "Any part of the experiment, by its name");
  flags.number("--repetitions", inputs.repetitions, 1, 1'000'000,
               "Number of repetitions (default: the experiment's own)");
  flags.flag("--quick", inputs.quick, "A small version that takes less than a minute per part; without NAME: of all");
  flags.text("--data", "DIR", inputs.data, "Folder of the data files, for parts that need them (or ECOTONE_DATA)");
  flags.text("--output,-o", "DIR", inputs.out, "Folder for the pictures of a figure (SVG) and their data (CSV)");
  add_page_flags(flags, inputs.page);
  add_resume_flag(flags, inputs.resume);
  flags.flag("--list", inputs.list, "Show all experiments, or the one named, with their parts");
  ArgumentWords words{.files = false};
  words.words.emplace_back(all_experiments);
  for (const EmbeddedExperiment& each : embedded_experiments()) words.words.emplace_back(each.name);
  flags.complete_arguments(std::move(words));
}

}  // namespace

Verb reproduce_verb() {
  return make_verb({"reproduce", "Rerun a paper's experiment, with published results beside ours",
                    "reproduce NAME [--example|--table|--figure|--item ITEM] [flags]",
                    "  ecotone reproduce --list\n"
                    "  ecotone reproduce muandet2013 --quick\n"
                    "  ecotone reproduce sayed2022 --example 59.5\n"
                    "  ecotone reproduce weighting --table weights --repetitions 10 --seed 1 --json\n"
                    "  ecotone reproduce habrard2012 --figure 3 -o FOLDER\n"},
                   declare_reproduce, run_reproduce);
}

}  // namespace ecotone::cli
