#include "ecotone/data/read.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/tensor_file.h"
#include "ecotone/data/formats/arrays.h"
#include "ecotone/data/formats/byte_source.h"
#include "ecotone/data/formats/csv/csv.h"
#include "ecotone/data/formats/eco.h"

namespace ecotone {

namespace {

/// By the name, in lower case and without .gz; `detect` when it says nothing.
FileFormat format_by_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  static constexpr std::pair<std::string_view, FileFormat> endings[] = {
      {".csv", FileFormat::csv},      {".tsv", FileFormat::csv},         {".svmlight", FileFormat::svmlight},
      {".svm", FileFormat::svmlight}, {".libsvm", FileFormat::svmlight}, {".npy", FileFormat::npy},
      {".idx", FileFormat::idx},      {"-ubyte", FileFormat::idx},       {".bin", FileFormat::cifar},
      {".eco", FileFormat::eco}};
  for (const auto& [ending, format] : endings)
    if (name.ends_with(ending)) return format;
  return FileFormat::detect;
}

/// Whether a line reads LABEL INDEX:VALUE ...
bool looks_sparse(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size()));
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos ||
      line.substr(0, blank).find_first_not_of("+-.0123456789eE") != std::string_view::npos)
    return false;
  const std::string_view pair = line.substr(blank + 1, std::min(line.find(' ', blank + 1), line.size()) - blank - 1);
  const std::size_t colon = pair.find(':');
  return colon != std::string_view::npos && colon > 0 &&
         (pair.starts_with("qid:") || pair.substr(0, colon).find_first_not_of("0123456789") == std::string_view::npos);
}

FileFormat format_by_content(const ByteSource& source) {
  const std::string start = source.text(0, std::min<std::size_t>(source.size(), 4096));
  if (start.starts_with("\x93NUMPY")) return FileFormat::npy;
  if (start.size() >= 4 && start[0] == 0 && start[1] == 0 && start[2] >= 8 && start[2] <= 14 && start[3] >= 1 &&
      start[3] <= 4)
    return FileFormat::idx;
  if (start.size() >= 9 && start[8] == '{') return FileFormat::eco;
  return looks_sparse(start) ? FileFormat::svmlight : FileFormat::csv;
}

/// The files of a data set, opened, and their one format. An .eco file is not opened: it is mapped.
struct Inputs {
  FileFormat format = FileFormat::detect;
  std::vector<ByteSource> sources;
};

Inputs open_inputs(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                   const Context& context) {
  if (paths.empty()) option_error("no_files", "no data file given");
  Inputs inputs;
  for (const std::filesystem::path& path : paths) {
    FileFormat format = options.format == FileFormat::detect ? format_by_name(path) : options.format;
    if (format != FileFormat::eco) {
      inputs.sources.push_back(ByteSource::open(path, context));
      if (format == FileFormat::detect) format = format_by_content(inputs.sources.back());
    }
    if (inputs.format != FileFormat::detect && format != inputs.format)
      option_error("mixed_formats", "{} and {} are of different formats", paths.front().string(), path.string());
    inputs.format = format;
  }
  if (inputs.format == FileFormat::eco && paths.size() > 1)
    option_error("one_file", "only one .eco file can be read at a time, got {}", paths.size());
  if (!options.labels_file.empty() && (inputs.format == FileFormat::csv || inputs.format == FileFormat::eco))
    option_error("labels_file", "a file of labels goes with NPY, IDX, CIFAR or svmlight data, not with {}",
                 paths.front().string());
  if (options.domain_from_file && !options.domain.empty())
    option_error("column_twice", "domains are taken from the files or from column '{}', not both", options.domain);
  return inputs;
}

CsvTuning tuning_of(const ReadOptions& options) {
  CsvTuning tuning;
  tuning.stream = options.stream;
  return tuning;
}

/// What was left out of training is simply not in the schema.
ReadOptions all_columns(ReadOptions options) {
  options.ignore.clear();
  options.features.clear();
  return options;
}

}  // namespace

Dataset read_dataset(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                     const Context& context) {
  Inputs inputs = open_inputs(paths, options, context);
  switch (inputs.format) {
    case FileFormat::csv:
      return read_csv(std::move(inputs.sources), options, tuning_of(options), context);
    case FileFormat::eco:
      return read_eco(TensorFile::map(paths.front()), options, context);
    default:
      return arrays_dataset(read_arrays(inputs.format, inputs.sources, options, context), inputs.sources, options,
                            context);
  }
}

Dataset read_for_model(const std::vector<std::filesystem::path>& paths, const Schema& schema,
                       const ReadOptions& options, const Context& context) {
  Inputs inputs = open_inputs(paths, options, context);
  const ReadOptions all = all_columns(options);
  switch (inputs.format) {
    case FileFormat::csv:
      return read_csv_for_model(std::move(inputs.sources), schema, all, tuning_of(options), context);
    case FileFormat::eco:
      return match_by_name(read_eco(TensorFile::map(paths.front()), all, context), schema, paths.front().string(),
                           context);
    default:
      return match_by_position(
          arrays_dataset(read_arrays(inputs.format, inputs.sources, all, context), inputs.sources, all, context),
          schema, paths.front().string(), context);
  }
}

Dataset parse_for_model(std::string csv, std::string name, const Schema& schema, const ReadOptions& options,
                        const Context& context) {
  return read_csv_for_model({ByteSource::memory(std::move(csv), std::move(name))}, schema, all_columns(options),
                            tuning_of(options), context);
}

}  // namespace ecotone
