#include "ecotone/data/read.h"

#include <string>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/data/formats/byte_source.h"
#include "ecotone/data/formats/format.h"

namespace ecotone {

namespace {

/// The files of a data set and their common format.
struct Inputs {
  const Format* format = nullptr;
  InputFiles files;
};

std::vector<std::string> names_with_labels_file() {
  std::vector<std::string> names;
  for (const Format& format : formats())
    if (format.rows) names.push_back(format.name);
  return names;
}

Inputs open_inputs(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                   const Context& context) {
  if (paths.empty()) option_error("no_files", "no data file given");
  if (std::ranges::count(paths, "-") > 1) option_error("stdin_twice", "'-', standard input, can be read once only");
  Inputs inputs;
  inputs.files.paths = paths;
  for (const std::filesystem::path& given : paths) {
    const std::filesystem::path path = given == "-" ? "/dev/stdin" : given;
    const Format* format = options.format.empty() ? format_by_ending(path) : &format_by_name(options.format);
    if (!format || !format->mapped) {
      inputs.files.sources.push_back(ByteSource::open(path, context));
      if (options.format.empty()) refuse_foreign(inputs.files.sources.back());
      if (!format) format = &format_by_content(inputs.files.sources.back());
    }
    if (inputs.format && format != inputs.format)
      option_error("mixed_formats", "{} and {} have different formats", paths.front().string(), path.string());
    inputs.format = format;
  }
  if (inputs.format->mapped && paths.size() > 1)
    option_error("one_file", "only one {} file can be read at a time, got {}", inputs.format->endings.front(),
                 paths.size());
  if (!options.labels_file.empty() && !inputs.format->rows)
    option_error("labels_file", "a label file goes with {} data, not with {}", or_list(names_with_labels_file()),
                 paths.front().string());
  if (options.domain_from_file && !options.domain.empty())
    option_error("column_twice", "domains come from the files or from column '{}', not from both", options.domain);
  return inputs;
}

/// Columns left out of training are simply not in the schema.
ReadOptions all_columns(ReadOptions options) {
  options.ignore.clear();
  options.features.clear();
  return options;
}

}  // namespace

Dataset read_dataset(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                     const Context& context) {
  Inputs inputs = open_inputs(paths, options, context);
  return read_files(*inputs.format, std::move(inputs.files), options, context);
}

Dataset read_for_model(const std::vector<std::filesystem::path>& paths, const Schema& schema,
                       const ReadOptions& options, const Context& context) {
  std::vector<TextColumn> passed;
  return read_for_model(paths, schema, options, passed, context);
}

Dataset read_for_model(const std::vector<std::filesystem::path>& paths, const Schema& schema,
                       const ReadOptions& options, std::vector<TextColumn>& passed, const Context& context) {
  Inputs inputs = open_inputs(paths, options, context);
  return read_files_for_model(*inputs.format, std::move(inputs.files), schema, all_columns(options), passed, context);
}

Dataset parse_for_model(std::string csv, std::string name, const Schema& schema, const ReadOptions& options,
                        const Context& context) {
  InputFiles files{{name}, {}};
  files.sources.push_back(ByteSource::memory(std::move(csv), std::move(name)));
  std::vector<TextColumn> passed;
  return read_files_for_model(format_by_name("csv"), std::move(files), schema, all_columns(options), passed, context);
}

}  // namespace ecotone
