#include "cli/new_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/csv/csv_field.h"
#include "ecotone/data/read.h"

namespace ecotone::cli {

void add_new_data_flags(Flags& flags, NewDataFlags& inputs) {
  flags.arguments("MODEL DATA...", inputs.arguments,
                  "A model from `ecotone fit`, then data files with its columns in any order");
  flags.output(inputs.output, "The CSV file to write (default: standard output)");
  add_data_flags(flags, inputs.read, DataUse::new_data);
}

Batch NewData::batch() const {
  return {data.x, has_domains ? std::optional<Domains>(data.domain) : std::nullopt, data.origin};
}

Batch NewData::batch(std::span<const Index> rows) const {
  return {data.x.take(rows), has_domains ? std::optional<Domains>(data.domain.take(rows)) : std::nullopt,
          take_origin(data.origin, rows)};
}

NewData read_new_data(const NewDataFlags& flags, Session& session) {
  const std::vector<std::filesystem::path> paths(flags.arguments.begin(), flags.arguments.end());
  require_files(paths);
  if (paths.size() < 2) option_error("no_data", "no data file given after the model {}", paths.front().string());
  ReadOptions options = flags.read;
  require_separate(files_read(paths, flags.read), {flags.output});
  if (!flags.writes_eco || !flags.output.ends_with(".eco")) require_csv_name("-o", flags.output);
  require_writable(flags.output, true);
  Model model = session.timed("load", [&] { return Model::load(paths.front()); });
  options.task = model.task();
  std::vector<TextColumn> passed;
  Dataset data = session.timed("read", [&] {
    return read_for_model({paths.begin() + 1, paths.end()}, model.schema(), options, passed, session.context());
  });
  const bool has_domains = options.domain_from_file || !data.schema.domain.empty();
  return {std::move(model), std::move(data), has_domains, std::move(passed)};
}

std::string new_data_header(const NewData& in, const std::vector<std::string>& names) {
  std::vector<std::string> fields;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (!seen.insert(name).second)
      data_error("column_clash",
                 "the output has a column '{}' already; leave it out of --id and --keep, or rename it in the data",
                 name);
    fields.push_back(csv_field(name));
  };
  for (const TextColumn& column : in.passed) add(column.name);
  for (const std::string& name : names) add(name);
  return fmt::format("{}\n", fmt::join(fields, ","));
}

void append_passed(const NewData& in, Index row, std::string& text) {
  for (const TextColumn& column : in.passed) {
    append_csv_field(text, column.texts[at(row)]);
    text += ',';
  }
}

Json passed_json(const NewData& in) {
  Json json = Json::object();
  for (const TextColumn& column : in.passed) json[column.name] = column.texts;
  return json;
}

}  // namespace ecotone::cli
