#include "ecotone/data/formats/csv/texts.h"

#include <algorithm>
#include <numeric>

#include "ecotone/data/formats/csv/looks.h"
#include "ecotone/data/formats/format.h"
#include "ecotone/data/formats/roles.h"
#include "ecotone/data/ordered.h"

namespace ecotone {

namespace {

bool is_csv(const std::filesystem::path& path, const ByteSource& source, const ReadOptions& options) {
  const Format* format = options.format.empty() ? format_by_ending(path) : &format_by_name(options.format);
  return (format ? *format : format_by_content(source)).name == "csv";
}

/// How the files write numbers, found as it was for the data set.
void settle_styles(CsvTable& table, const ReadOptions& options, const Schema& schema, const Context& context) {
  std::vector<Index> numbers;
  const auto add = [&](const std::string& name) {
    const auto found = std::ranges::find(table.names(), name);
    if (found != table.names().end()) numbers.push_back(found - table.names().begin());
  };
  for (const Column& column : schema.columns) add(column.name);
  add(schema.label);
  add(schema.weight);
  if (options.decimal.empty()) return settle_numbers(table, numbers, context);
  for (std::size_t f = 0; f < table.files().size(); ++f) table.set_numbers(f, {options.decimal.front(), true});
}

}  // namespace

std::optional<CsvTexts> CsvTexts::open(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                                       const Schema& schema, const Context& context) {
  std::vector<ByteSource> sources;
  for (const std::filesystem::path& path : paths) {
    if (const Format* format = format_by_ending(path); format && format->mapped) return std::nullopt;
    sources.push_back(ByteSource::open(path, context));
    if (!is_csv(path, sources.back(), options)) return std::nullopt;
  }
  CsvTexts texts(CsvTable::open(std::move(sources), context));
  texts.table_.require_columns(texts.all_columns());
  texts.table_.find_records(CsvTuning{}.segment_bytes, context);
  settle_styles(texts.table_, options, schema, context);
  texts.table_.keep_where({}, context);
  return texts;
}

std::vector<Index> CsvTexts::all_columns() const {
  std::vector<Index> columns(names().size());
  std::iota(columns.begin(), columns.end(), Index{0});
  return columns;
}

Index CsvTexts::find(const std::string& name) const { return find_column(names(), name, table_.origin()); }

std::vector<Index> CsvTexts::first_rows() const {
  std::vector<Index> first(table_.files().size(), 0);
  // A file has several tasks, or none if it is empty.
  for (const CsvTask& task : table_.tasks())
    for (std::size_t f = task.file + 1; f < first.size(); ++f) first[f] = task.first_kept + task.kept;
  return first;
}

std::vector<std::string> CsvTexts::column(const std::string& name, const Context& context) const {
  std::vector<std::string> texts(at(rows()));
  table_.visit(
      {find(name)},
      [&](std::size_t task, Index record, std::span<const std::string> fields) {
        bool changed = false;
        texts[at(table_.tasks()[task].first_kept + record)] = to_utf8(fields.front(), changed);
      },
      context);
  return texts;
}

std::vector<std::vector<std::string>> CsvTexts::fields(const std::vector<Index>& rows, const Context& context) const {
  std::vector<std::vector<std::string>> found(rows.size());
  table_.visit(
      all_columns(),
      [&](std::size_t task, Index record, std::span<const std::string> texts) {
        const Index row = table_.tasks()[task].first_kept + record;
        const auto place = std::ranges::lower_bound(rows, row);
        if (place == rows.end() || *place != row) return;
        bool changed = false;
        for (const std::string& text : texts) found[at(place - rows.begin())].push_back(to_utf8(text, changed));
      },
      context);
  return found;
}

void CsvTexts::write(const Append& append, const std::function<void(std::string_view)>& use,
                     const Context& context) const {
  const std::vector<Index> columns = all_columns();
  const auto make = [&](Index t, std::string& text) {
    const CsvTask& task = table_.tasks()[at(t)];
    std::vector<std::string> fields(columns.size());
    table_.visit_task(at(t), columns, [&](std::size_t, Index record, std::span<const std::string> texts) {
      bool changed = false;
      for (std::size_t j = 0; j < texts.size(); ++j) fields[j] = to_utf8(texts[j], changed);
      append({task.first_kept + record, fields, table_.files()[task.file].numbers}, text);
    });
  };
  for (const CsvFile& file : table_.files()) file.source.check_unchanged();
  in_order(static_cast<Index>(table_.tasks().size()), context, make, use);
}

}  // namespace ecotone
