#include "ecotone/data/formats/csv/csv.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/categories.h"
#include "ecotone/data/formats/csv/kinds.h"
#include "ecotone/data/formats/csv/looks.h"
#include "ecotone/data/formats/csv/values.h"
#include "ecotone/data/formats/encode.h"
#include "ecotone/data/formats/format.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/data/formats/roles.h"
#include "ecotone/data/storage/csv_storage.h"
#include "ecotone/data/storage/share_storage.h"

namespace ecotone {

namespace {

/// Whether the features stay in the files; an error if they neither fit into memory nor can be left there.
ValueStore choose_store(const CsvTable& table, Index cols, const CsvTuning& tuning, const Context& context) {
  const bool on_disk = std::ranges::all_of(table.files(), [](const CsvFile& file) { return file.source.on_disk(); });
  if (tuning.stream && on_disk) return ValueStore::streamed;
  const std::size_t bytes = static_cast<std::size_t>(table.rows()) * static_cast<std::size_t>(cols) * sizeof(double);
  if (on_disk && bytes > available_memory()) {
    context.note(
        "{}: {} rows x {} features do not fit into memory and are read from the file on every pass; an .eco file is "
        "faster",
        table.origin(), table.rows(), cols);
    return ValueStore::streamed;
  }
  require_memory(bytes, table.origin(), fmt::format("{} rows x {} features", table.rows(), cols),
                 "uncompress the file, so that it is read in pieces, or use fewer columns");
  return ValueStore::dense;
}

/// Whether this is one of several ranks, and keeps the rows that it works on.
bool keeps_own_rows(const ReadOptions& options, const Context& context) {
  return options.own_rows && !options.stream && context.ranks().size() > 1;
}

/// Reads the values of the rows; where text is found instead of a number, reads again with that column as text.
CsvValues read_values(const CsvTable& table, CsvColumns& columns, const CsvTuning& tuning, const Context& context) {
  for (;;) {
    if (!columns.known_levels) find_levels(table, columns, context);
    const ValueStore store = choose_store(table, columns.cols(), tuning, context);
    CsvValues values = parse_values(table, columns, table.tasks(), store, context);
    for (const CsvFile& file : table.files()) file.source.check_unchanged();
    if (values.not_number.empty()) {
      if (!columns.known_levels) warn_almost(table, columns, values, context);
      return values;
    }
    settle_text(table, columns, values.not_number, context);
  }
}

Labels make_labels(const CsvColumns& columns, CsvValues& values, const ReadOptions& options, const std::string& name,
                   const Context& context) {
  if (columns.label_is_text)
    return text_labels(std::move(values.label_codes), values.label_words, options.task, name, context);
  return numeric_labels(std::move(values.label), options.task, name, context);
}

Domains domains_from_files(const CsvTable& table) {
  Domains domains;
  for (const CsvFile& file : table.files()) {
    if (std::ranges::find(domains.names, file.source.stem()) != domains.names.end())
      option_error("duplicate_domain", "two files would both be domain '{}'; rename one", file.source.stem());
    domains.names.push_back(file.source.stem());
  }
  for (const CsvTask& task : table.tasks())
    domains.index.insert(domains.index.end(), static_cast<std::size_t>(task.kept),
                         static_cast<std::int32_t>(task.file));
  // A file whose rows were all filtered out is not a domain.
  std::vector<Index> all(domains.index.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
  return domains.take(all);
}

Domains make_domains(const CsvTable& table, const CsvColumns& columns, CsvValues& values, const ReadOptions& options) {
  if (options.domain_from_file) return domains_from_files(table);
  if (columns.domain < 0) return one_domain(table.rows());
  const auto missing = std::ranges::find(values.domain_codes, -1);
  if (missing != values.domain_codes.end()) {
    const std::string& name = table.names()[at(columns.domain)];
    data_error("missing_domain", "{}: row {} has no domain in column '{}'; drop such rows with --where '{}!='",
               table.origin(), origin_of(table.origin_rows(), missing - values.domain_codes.begin()) + 1, name, name);
  }
  return {std::move(values.domain_words), std::move(values.domain_codes)};
}

void refuse_clash(const Schema& schema, const std::string& origin) {
  if (const auto clash = schema.clash())
    data_error(
        "duplicate_column",
        "{}: columns '{}' and '{}' both produce a feature '{}' (a category becomes COLUMN=CATEGORY); rename one or "
        "leave it out with --ignore",
        origin, clash->first, clash->second, clash->feature);
}

Dataset finish(CsvTable table, CsvColumns& columns, CsvValues values, const ReadOptions& options,
               const Context& context) {
  Dataset data;
  const auto name = [&](Index column) { return column < 0 ? std::string() : table.names()[at(column)]; };
  data.schema = {columns.inputs,
                 name(columns.label),
                 name(columns.domain),
                 name(columns.weight),
                 name(columns.group),
                 name(columns.time),
                 columns.time_form.kind == ColumnKind::date};
  refuse_clash(data.schema, table.origin());
  if (columns.label >= 0) data.y = make_labels(columns, values, options, data.schema.label, context);
  data.domain = make_domains(table, columns, values, options);
  data.weight = std::move(values.weight);
  data.group = std::move(values.group_codes);
  data.time = std::move(values.time);
  data.origin = table.origin_rows();
  data.left_out = columns.left_out;
  data.dropped = table.dropped();
  if (values.converted) context.warn("not_utf8", "{}: some text is not UTF-8; it was read as Latin-1", table.origin());
  std::vector<std::string> names = data.schema.feature_names();
  if (values.blocks.empty()) {
    data.x = Features::dense(std::move(values.x), std::move(names));
  } else {
    std::vector<RowPlan> plans = feature_plans(table, columns);
    std::shared_ptr<const FeatureStorage> file =
        std::make_shared<CsvStorage>(std::move(table), std::move(plans), columns.cols(), std::move(values.blocks));
    if (keeps_own_rows(options, context)) file = std::make_shared<ShareStorage>(std::move(file), context);
    data.x = Features(std::move(file), std::move(names));
  }
  set_targets(data, options.target);
  return data;
}

/// Rejects files that lack columns of the schema, and names these columns.
void require_model_columns(const CsvTable& table, const Schema& schema) {
  for (const CsvFile& file : table.files()) {
    const std::set<std::string> there(file.names.begin(), file.names.end());
    std::vector<std::string> missing;
    for (const Column& column : schema.columns)
      if (!there.contains(column.name)) missing.push_back(column.name);
    if (!missing.empty())
      data_error("missing_column", "{}: no column {}, which the model needs; the columns are {}", file.source.name(),
                 quoted_names(missing), some_names(file.names));
  }
}

/// Finds the records, how their numbers are written, and which are kept.
void open_records(CsvTable& table, const CsvColumns& columns, const ReadOptions& options, const CsvTuning& tuning,
                  const Context& context) {
  table.find_records(tuning.segment_bytes, context);
  std::vector<Index> numbers = columns.input_columns;
  for (const Index column : {columns.label, columns.weight})
    if (column >= 0) numbers.push_back(column);
  if (options.decimal.empty())
    settle_numbers(table, numbers, context);
  else
    for (std::size_t f = 0; f < table.files().size(); ++f) table.set_numbers(f, {options.decimal.front(), true});
  table.keep_where(options.where, context);
}

/// The id and the kept columns. Option error `column_twice` if one is given twice.
std::vector<Index> passed_columns(const CsvTable& table, const ReadOptions& options) {
  std::vector<std::string> names = options.keep;
  if (!options.id.empty()) names.insert(names.begin(), options.id);
  std::vector<Index> columns;
  for (const std::string& name : names) {
    columns.push_back(find_column(table.names(), name, table.origin()));
    if (std::ranges::find(columns.begin(), columns.end() - 1, columns.back()) != columns.end() - 1)
      option_error("column_twice", "column '{}' is passed through twice", name);
  }
  table.require_columns(columns);
  return columns;
}

std::vector<TextColumn> pass_texts(const CsvTable& table, const std::vector<Index>& columns, const Context& context) {
  std::vector<TextColumn> passed;
  for (const Index column : columns)
    passed.push_back({table.names()[at(column)], std::vector<std::string>(at(table.rows()))});
  std::vector<Index> row;  // the next one of each task
  for (const CsvTask& task : table.tasks()) row.push_back(task.first_kept);
  table.visit(
      columns,
      [&](std::size_t task, Index, std::span<const std::string> texts) {
        bool changed = false;
        for (std::size_t c = 0; c < texts.size(); ++c) passed[c].texts[at(row[task])] = to_utf8(texts[c], changed);
        ++row[task];
      },
      context);
  return passed;
}

void warn_unseen(const CsvColumns& columns, const CsvValues& values, const Context& context) {
  std::size_t slot = 0;
  for (const Column& column : columns.inputs) {
    if (column.kind != ColumnKind::categorical) continue;
    warn_unseen_rows(column.name, values.unseen.empty() ? 0 : values.unseen[slot], context);
    ++slot;
  }
}

}  // namespace

Dataset read_csv(std::vector<ByteSource> sources, const ReadOptions& options, const CsvTuning& tuning,
                 const Context& context) {
  CsvTable table = CsvTable::open(std::move(sources), context);
  const ColumnRoles roles = resolve_roles(table.names(), options, table.origin());
  CsvColumns columns;
  columns.label = roles.label;
  columns.domain = roles.domain;
  columns.weight = roles.weight;
  columns.group = roles.group;
  columns.time = roles.time;
  columns.input_columns = roles.features;
  columns.chosen = !options.features.empty();
  columns.codes = options.codes;
  for (const Index column : roles.features)
    columns.inputs.push_back({table.names()[at(column)], ColumnKind::numeric, {}});
  table.require_columns(columns.used());
  if (options.features.empty()) table.refuse_further_columns(options.ignore);
  open_records(table, columns, options, tuning, context);
  if (columns.time >= 0) columns.time_form = time_form(table, columns.time, context);
  sniff(table, columns, context);
  CsvValues values = read_values(table, columns, tuning, context);
  return finish(std::move(table), columns, std::move(values), options, context);
}

Dataset read_csv_for_model(std::vector<ByteSource> sources, const Schema& schema, const ReadOptions& options,
                           const CsvTuning& tuning, const Context& context, std::vector<TextColumn>* passed) {
  CsvTable table = CsvTable::open(std::move(sources), context);
  require_model_columns(table, schema);
  const std::vector<Index> texts = passed ? passed_columns(table, options) : std::vector<Index>{};
  const ColumnRoles roles = resolve_model_roles(table.names(), schema, options, table.origin());
  CsvColumns columns;
  columns.label = roles.label;
  columns.domain = roles.domain;
  columns.weight = roles.weight;
  columns.inputs = schema.columns;
  columns.input_columns = roles.features;
  columns.known_levels = true;
  table.require_columns(columns.used());
  open_records(table, columns, options, tuning, context);
  sniff(table, columns, context);
  if (!texts.empty()) *passed = pass_texts(table, texts, context);
  CsvValues values = read_values(table, columns, tuning, context);
  warn_unseen(columns, values, context);
  return finish(std::move(table), columns, std::move(values), options, context);
}

namespace {

CsvTuning tuning_of(const ReadOptions& options, const Context& context) {
  CsvTuning tuning;
  tuning.stream = options.stream || keeps_own_rows(options, context);
  return tuning;
}

Dataset read_csv_files(InputFiles files, const ReadOptions& options, const Context& context) {
  return read_csv(std::move(files.sources), options, tuning_of(options, context), context);
}

Dataset read_csv_files_for_model(InputFiles files, const Schema& schema, const ReadOptions& options,
                                 std::vector<TextColumn>& passed, const Context& context) {
  return read_csv_for_model(std::move(files.sources), schema, options, tuning_of(options, context), context, &passed);
}

}  // namespace

Format csv_format() {
  return {.name = "csv",
          .summary = "Text with a line of column names, separated by commas, semicolons or tabs.",
          .endings = {".csv", ".tsv"},
          .read = read_csv_files,
          .read_for_model = read_csv_files_for_model,
          .passes_text = true};
}

}  // namespace ecotone
