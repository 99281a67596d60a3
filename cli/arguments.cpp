#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/ranks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/files/file.h"
#include "ecotone/base/options.h"
#include "ecotone/data/formats/format.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/diagnose/suspicious.h"
#include "ecotone/methods/grid.h"
#include "ecotone/methods/registry.h"

namespace ecotone::cli {
namespace {

constexpr const char* data_group = "Data";  // of flags that say how data are read

bool is_method(std::string_view name) {
  return std::any_of(methods().begin(), methods().end(), [&](const Method& m) { return m.name == name; });
}

/// Whether text is meant as a pipeline, even a wrong one.
bool looks_like_pipeline(const std::string& text) {
  const std::string first = text.substr(0, text.find_first_of(" |"));
  return is_method(first) || text.find('|') != std::string::npos;
}

/// "-" is standard input.
bool exists(const std::string& path) {
  std::error_code ignored;
  return path == "-" || std::filesystem::exists(path, ignored);
}

bool looks_like_file(const std::string& text) {
  if (text.find('/') != std::string::npos || text.ends_with(".txt") || text.ends_with(".gz")) return true;
  return std::ranges::any_of(formats(), [&](const Format& format) {
    return std::ranges::any_of(format.endings, [&](const std::string& ending) { return text.ends_with(ending); });
  });
}

/// Whether writing to this path puts a file in the place of another; devices, pipes and descriptors are written
/// through.
bool replaces_a_file(const std::string& path) {
  if (path.empty() || path == "-") return false;
  for (const char* device : {"/dev/", "/proc/self/fd/"})
    if (path.starts_with(device)) return false;
  std::error_code ignored;
  return !std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored);
}

/// The ending of a name in small letters: ".csv".
std::string ending_of(const std::string& path) { return lower_case(std::filesystem::path(path).extension().string()); }

/// The path behind all links, whether there is a file or not.
std::filesystem::path resolved(std::filesystem::path path) {
  std::error_code ignored;
  for (int link = 0; link < 40 && std::filesystem::is_symlink(path, ignored); ++link)
    path = path.parent_path() / std::filesystem::read_symlink(path, ignored);
  const std::filesystem::path found = std::filesystem::weakly_canonical(std::filesystem::absolute(path), ignored);
  return found.empty() ? path : found;
}

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored) || resolved(a) == resolved(b);
}

bool is_data(const std::string& text) {
  if (looks_like_pipeline(text)) return false;
  return exists(text) || looks_like_file(text);
}

/// What one pipeline argument stands for.
using ReadPipelines = std::vector<Pipeline> (*)(const std::string&);

DataAndPipelines split_arguments(const std::vector<std::string>& arguments, ReadPipelines read) {
  DataAndPipelines result;
  for (const std::string& argument : arguments) {
    if (!result.pipelines.empty() || !is_data(argument)) {
      if (!result.pipelines.empty() && is_data(argument) && exists(argument))
        option_error("bad_order", "'{}' is a file; data files come before pipelines", argument);
      if (result.data.empty() && !looks_like_pipeline(argument))
        file_error("no_such_file", "no such file: {}", argument);
      if (result.data.empty()) option_error("no_data", "no data file before the pipeline '{}'", argument);
      for (Pipeline& pipeline : read(argument)) result.pipelines.push_back(std::move(pipeline));
    } else {
      result.data.emplace_back(argument);
    }
  }
  require_files(result.data);
  if (result.data.empty()) option_error("no_data", "no data file and no pipeline given");
  if (result.pipelines.empty())
    option_error("no_pipeline", "no pipeline given after the data, such as \"impute | scale | logistic\"");
  return result;
}

}  // namespace

void add_data_flags(Flags& flags, ReadOptions& read, DataUse use) {
  flags.group(data_group);
  if (use == DataUse::new_data || use == DataUse::new_labels) {
    if (use == DataUse::new_labels) flags.options(read, {"weight"});
    if (use == DataUse::new_labels)
      flags.text("--label", "COLUMN", read.label, "The label column, if its name differs from the training data");
    flags.text("--domain", "COLUMN", read.domain, "The domain column, if its name differs from the training data");
    if (use == DataUse::new_data) {
      flags.text("--id", "COLUMN", read.id, "Write this column first, as it is, to tell whose row it is");
      flags.options(read, {"keep"});
    }
  } else {
    flags.options(read, {"label", "domain", "weight", "group", "time", "id", "ignore", "features", "task"});
  }
  flags.texts("--where", "TEST", read.where, "Keep only rows such as 'age>=18' or 'label!=-1'; repeat to require all");
  if (use == DataUse::training) flags.options(read, {"target"});
  flags.options(read, {"domain_from_file", "decimal", "stream", "labels", "base"});
  flags.text("--format", "NAME", read.format, or_list(format_names()) + " (default: detected)", Need::optional,
             format_names());
  flags.group("");
}

void add_strict_flag(Flags& flags, bool& strict) {
  flags.flag("--strict", strict, "Stop at columns that give the label away or look like an id, instead of warning");
}

Dataset read_checked(const std::vector<std::filesystem::path>& files, const ReadOptions& read, bool strict,
                     Session& session) {
  require_files_for_ranks(files, session.context());
  require_same_command(files, session);
  Dataset data = session.timed("read", [&] { return read_dataset(files, read, session.context()); });
  require_same_data(data, read.own_rows, session.context());
  warn_suspicious(data, strict, session.context());
  return data;
}

ReadOptions for_pipelines(ReadOptions read, const std::vector<Pipeline>& pipelines) {
  read.codes = std::ranges::all_of(pipelines, &Pipeline::takes_categories);
  return read;
}

ReadOptions for_pipelines(ReadOptions read, const std::vector<PipelineGrid>& grids) {
  std::vector<Pipeline> points;
  for (const PipelineGrid& grid : grids) points.insert(points.end(), grid.points.begin(), grid.points.end());
  return for_pipelines(std::move(read), points);
}

void refuse_data_flags(const Flags& flags, std::string_view why) {
  const std::string given = flags.given_of(data_group);
  if (!given.empty()) option_error("idle_flag", "{}: {} applies to data files; {}", flags.verb(), given, why);
}

void refuse_seed(const Flags& flags) {
  if (flags.given("--seed"))
    option_error("idle_flag", "{}: the seed is that of the parts; give --seed to `ecotone partial`", flags.verb());
}

std::vector<std::filesystem::path> files_read(std::vector<std::filesystem::path> data, const ReadOptions& read) {
  if (!read.labels_file.empty()) data.emplace_back(read.labels_file);
  return data;
}

DataAndPipelines data_and_pipelines(const std::vector<std::string>& arguments) {
  return split_arguments(arguments,
                         [](const std::string& text) { return std::vector<Pipeline>{Pipeline::parse(text)}; });
}

DataAndPipelines data_and_grids(const std::vector<std::string>& arguments) {
  return split_arguments(arguments, [](const std::string& text) { return expand_grid(text); });
}

DataAndSpaces data_and_spaces(const std::vector<std::string>& arguments) {
  const DataAndPipelines first = split_arguments(
      arguments, [](const std::string& text) { return std::vector<Pipeline>{PipelineSpace(text).first()}; });
  const auto pipelines = arguments.begin() + static_cast<std::ptrdiff_t>(first.data.size());
  return {first.data, {pipelines, arguments.end()}};
}

DataAndGrids data_and_each_grid(const std::vector<std::string>& arguments) {
  const DataAndSpaces given = data_and_spaces(arguments);
  DataAndGrids result{given.data, {}};
  for (const std::string& text : given.pipelines) result.grids.push_back(PipelineGrid::parse(text));
  return result;
}

bool has_pipeline(const std::vector<std::string>& arguments) {
  return !std::all_of(arguments.begin(), arguments.end(), is_data);
}

void require_data_ending(std::string_view verb, const std::string& path) {
  if (path.ends_with(".eco") || path.ends_with(".csv") || !replaces_a_file(path)) return;
  option_error("bad_output", "{}: -o must end in .eco or .csv, got '{}'", verb, path);
}

void require_csv_name(std::string_view flag, const std::string& path) {
  constexpr std::string_view others[] = {".eco", ".npy",  ".npz",  ".parquet", ".feather", ".xlsx",
                                         ".xls", ".json", ".html", ".htm",     ".gz"};
  if (std::ranges::find(others, ending_of(path)) == std::end(others) || !replaces_a_file(path)) return;
  option_error("bad_output", "{} writes a CSV file, and '{}' promises another format; let it end in .csv", flag, path);
}

void require_html_name(std::string_view flag, const std::string& path) {
  const std::string ending = ending_of(path);
  if (ending.empty() || ending == ".html" || ending == ".htm" || !replaces_a_file(path)) return;
  option_error("bad_output", "{} writes an HTML page, and '{}' promises another format; let it end in .html", flag,
               path);
}

void require_writable(const std::string& path, bool screen) {
  if (path == "-" && !screen)
    option_error("bad_output", "'-', standard output, holds what is printed; name a file to write to");
  // A named pipe is not tried: opened and given up, it would be at its end for its reader.
  std::error_code ignored;
  if (path.empty() || path == "-" || std::filesystem::is_fifo(path, ignored)) return;
  // Opened and given up: the temporary file is gone again and an old file stays as it was.
  AtomicFile{path};
}

void require_separate(const std::vector<std::filesystem::path>& inputs, const std::vector<std::string>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!replaces_a_file(outputs[i])) continue;
    for (const auto& input : inputs)
      if (same_file(outputs[i], input))
        option_error("same_file", "the output {} is the input {}; write to another file", outputs[i], input.string());
    for (std::size_t k = 0; k < i; ++k)
      if (replaces_a_file(outputs[k]) && same_file(outputs[i], outputs[k]))
        option_error("same_file", "{} and {} are the same file; give each output its own", outputs[k], outputs[i]);
  }
}

void require_files(const std::vector<std::filesystem::path>& paths) {
  for (const auto& path : paths)
    if (!exists(path.string())) file_error("no_such_file", "no such file: {}", path.string());
}

}  // namespace ecotone::cli
