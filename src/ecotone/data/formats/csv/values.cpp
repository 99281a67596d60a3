#include "ecotone/data/formats/csv/values.h"

#include <algorithm>
#include <cstdint>

#include "ecotone/base/memory.h"
#include "ecotone/base/progress.h"

namespace ecotone {

namespace {

/// The plan of every column of the table: inputs into x.
struct TablePlan {
  std::vector<FieldPlan> fields;
  RowPlan common;
};

NumberForm form_of(const Column& column) { return {column.kind == ColumnKind::date, column.slashes}; }

TablePlan plan_features(const CsvTable& table, const CsvColumns& columns) {
  TablePlan plan;
  plan.fields.resize(table.names().size());
  Index next = 0;
  for (std::size_t i = 0; i < columns.inputs.size(); ++i) {
    const Column& input = columns.inputs[i];
    FieldPlan& field = plan.fields[at(columns.input_columns[i])];
    if (input.kind != ColumnKind::categorical) {
      field = {FieldUse::feature, columns.known_levels, next++, form_of(input)};
      continue;
    }
    field = {FieldUse::level, false, static_cast<Index>(plan.common.levels.size())};
    LevelColumn level{input.name, next, static_cast<Index>(input.width()), input.coded, {}};
    for (std::size_t k = 0; k < input.levels.size(); ++k)
      level.index.emplace(input.levels[k], static_cast<std::int32_t>(k));
    next += level.width;
    plan.common.levels.push_back(std::move(level));
  }
  return plan;
}

/// Slots of arrays and dictionaries other than the features; -1: not read.
struct Slots {
  Index label = -1;
  Index weight = -1;
  Index time = -1;
  Index numbers = 0;
  Index domain_code = -1;
  Index group_code = -1;
  Index label_code = -1;
};

Slots add_other_columns(TablePlan& plan, const CsvColumns& columns) {
  Slots slots;
  Index& codes = plan.common.n_codes;
  if (columns.label >= 0 && columns.label_is_text)
    plan.fields[at(columns.label)] = {FieldUse::code, false, slots.label_code = codes++};
  if (columns.label >= 0 && !columns.label_is_text)
    plan.fields[at(columns.label)] = {FieldUse::number, false, slots.label = slots.numbers++};
  if (columns.weight >= 0) plan.fields[at(columns.weight)] = {FieldUse::number, true, slots.weight = slots.numbers++};
  if (columns.time >= 0)
    plan.fields[at(columns.time)] = {FieldUse::number, true, slots.time = slots.numbers++, form_of(columns.time_form),
                                     true};
  if (columns.group >= 0) plan.fields[at(columns.group)] = {FieldUse::code, false, slots.group_code = codes++};
  if (columns.domain >= 0) plan.fields[at(columns.domain)] = {FieldUse::code, false, slots.domain_code = codes++};
  return slots;
}

/// Joins the dictionaries of one slot in task order, which is row order, and maps the codes of each task to the joint
/// ones.
struct Joined {
  Dictionary words;
  std::vector<std::vector<std::int32_t>> renumbered;
};

Joined join(const std::vector<RowFindings>& findings, Index slot, std::size_t limit, bool& converted) {
  Joined joined{Dictionary(limit), {}};
  for (const RowFindings& found : findings) {
    std::vector<std::int32_t>& numbers = joined.renumbered.emplace_back();
    for (const std::string& word : found.dictionaries[at(slot)].words())
      numbers.push_back(joined.words.code(to_utf8(word, converted)));
  }
  return joined;
}

class Parser {
 public:
  Parser(const CsvTable& table, const CsvColumns& columns, std::span<const CsvTask> tasks, ValueStore store)
      : table_(table),
        columns_(columns),
        tasks_(tasks),
        store_(store),
        first_(tasks.front().first_kept),
        rows_(tasks.back().first_kept + tasks.back().kept - first_) {
    TablePlan plan = plan_features(table, columns);
    slots_ = add_other_columns(plan, columns);
    plans_ = table.plans(plan.fields, plan.common);
  }

  CsvValues parse(const Context& context) {
    allocate();
    std::vector<RowFindings> findings(tasks_.size());
    starts_.resize(tasks_.size());
    {
      Progress progress(store_ == ValueStore::checked ? nullptr : context.observer(), "reading " + table_.origin(),
                        static_cast<Index>(tasks_.size()));
      context.parallel(static_cast<Index>(tasks_.size()), [&](Index t) {
        findings[at(t)] = parse_task(at(t));
        progress.advance();
      });
    }
    collect(findings, context);
    return std::move(values_);
  }

 private:
  void allocate() {
    if (store_ == ValueStore::dense) {
      values_.x.resize(rows_, columns_.cols());
      prefer_large_pages(values_.x.data(), static_cast<std::size_t>(values_.x.size()) * sizeof(double));
    }
    if (slots_.label >= 0) values_.label.resize(rows_);
    if (slots_.weight >= 0) values_.weight.resize(rows_);
    if (slots_.time >= 0) values_.time.resize(rows_);
    if (slots_.group_code >= 0) values_.group_codes.resize(at(rows_));
    if (slots_.domain_code >= 0) values_.domain_codes.resize(at(rows_));
    if (slots_.label_code >= 0) values_.label_codes.resize(at(rows_));
  }

  RowFindings parse_task(std::size_t t) {
    const CsvTask& task = tasks_[t];
    const Index row = task.first_kept - first_;
    RowTarget target;
    std::vector<double> unused;
    if (store_ == ValueStore::dense) {
      target.x = values_.x.data() + row * values_.x.cols();
      target.x_stride = values_.x.cols();
    } else {
      unused.resize(at(columns_.cols()));
      target.x = unused.data();
    }
    target.numbers.resize(at(slots_.numbers));
    if (slots_.label >= 0) target.numbers[at(slots_.label)] = values_.label.data() + row;
    if (slots_.weight >= 0) target.numbers[at(slots_.weight)] = values_.weight.data() + row;
    if (slots_.time >= 0) target.numbers[at(slots_.time)] = values_.time.data() + row;
    target.codes.resize(at(plans_.front().n_codes));
    if (slots_.domain_code >= 0) target.codes[at(slots_.domain_code)] = values_.domain_codes.data() + row;
    if (slots_.group_code >= 0) target.codes[at(slots_.group_code)] = values_.group_codes.data() + row;
    if (slots_.label_code >= 0) target.codes[at(slots_.label_code)] = values_.label_codes.data() + row;
    if (store_ == ValueStore::streamed) {
      target.starts = &starts_[t];
      target.first_row = row;
      target.block_rows = block_rows_for(columns_.cols());
    }
    RowFindings findings;
    table_.with_text(task.file, task.chunk.begin, task.chunk.end, [&](RowText run) {
      findings =
          parse_rows(table_.files()[task.file].source, run, task.chunk.rows, task.keep, plans_[task.file], target);
    });
    return findings;
  }

  void collect(const std::vector<RowFindings>& findings, const Context& context) {
    if (slots_.domain_code >= 0)
      values_.domain_words = renumber(findings, slots_.domain_code, values_.domain_codes, context);
    if (slots_.label_code >= 0)
      values_.label_words = renumber(findings, slots_.label_code, values_.label_codes, context);
    if (slots_.group_code >= 0) renumber(findings, slots_.group_code, values_.group_codes, context);
    for (std::size_t t = 0; t < starts_.size(); ++t)
      for (const BlockStart& start : starts_[t]) values_.blocks.push_back({t, start});
    values_.unseen.assign(plans_.front().levels.size(), 0);
    std::vector<char> text(table_.names().size(), 0);
    for (std::size_t t = 0; t < findings.size(); ++t) {
      for (std::size_t k = 0; k < values_.unseen.size(); ++k) values_.unseen[k] += findings[t].unseen[k];
      const std::vector<Index>& column = table_.files()[tasks_[t].file].column;
      for (std::size_t j = 0; j < findings[t].not_number.size(); ++j)
        if (findings[t].not_number[j]) text[at(column[j])] = 1;
    }
    for (std::size_t j = 0; j < text.size(); ++j)
      if (text[j]) values_.not_number.push_back(static_cast<Index>(j));
  }

  /// Maps the codes of each task's dictionary to the joint ones.
  std::vector<std::string> renumber(const std::vector<RowFindings>& findings, Index slot,
                                    std::vector<std::int32_t>& codes, const Context& context) {
    const Joined joined = join(findings, slot, std::numeric_limits<std::int32_t>::max(), values_.converted);
    context.parallel(static_cast<Index>(tasks_.size()), [&](Index t) {
      const CsvTask& task = tasks_[at(t)];
      const auto begin = codes.begin() + (task.first_kept - first_);
      for (std::int32_t& code : std::span(begin, at(task.kept)))
        if (code >= 0) code = joined.renumbered[at(t)][at(code)];
    });
    return joined.words.words();
  }

  const CsvTable& table_;
  const CsvColumns& columns_;
  std::span<const CsvTask> tasks_;
  ValueStore store_;
  Index first_;
  Index rows_;
  Slots slots_;
  std::vector<RowPlan> plans_;
  std::vector<std::vector<BlockStart>> starts_;
  CsvValues values_;
};

}  // namespace

Index CsvColumns::cols() const {
  Index count = 0;
  for (const Column& input : inputs) count += static_cast<Index>(input.width());
  return count;
}

std::vector<Index> CsvColumns::used() const {
  std::vector<Index> columns = input_columns;
  for (const Index column : {label, domain, weight, group, time})
    if (column >= 0) columns.push_back(column);
  return columns;
}

CsvValues parse_values(const CsvTable& table, const CsvColumns& columns, std::span<const CsvTask> tasks,
                       ValueStore store, const Context& context) {
  return Parser(table, columns, tasks, store).parse(context);
}

std::vector<std::vector<std::string>> collect_words(const CsvTable& table, const CsvColumns& columns,
                                                    const std::vector<Index>& inputs, std::size_t limit,
                                                    const Context& context) {
  std::vector<FieldPlan> fields(table.names().size());
  for (std::size_t k = 0; k < inputs.size(); ++k)
    fields[at(columns.input_columns[at(inputs[k])])] = {FieldUse::code, false, static_cast<Index>(k)};
  RowPlan common;
  common.n_codes = static_cast<Index>(inputs.size());
  common.code_limit = limit;
  // Weights and times are checked here, too: of two faults in a file the first is reported, whichever pass meets it.
  if (columns.weight >= 0) fields[at(columns.weight)] = {FieldUse::number, true, 0};
  if (columns.time >= 0) fields[at(columns.time)] = {FieldUse::number, true, 1, form_of(columns.time_form), true};
  const std::vector<RowPlan> plans = table.plans(fields, common);
  std::vector<RowFindings> findings(table.tasks().size());
  context.parallel(static_cast<Index>(findings.size()), [&](Index t) {
    const CsvTask& task = table.tasks()[at(t)];
    std::vector<double> weights(columns.weight >= 0 ? at(task.kept) : 0);
    std::vector<double> times(columns.time >= 0 ? at(task.kept) : 0);
    RowTarget target;
    target.numbers = {weights.data(), times.data()};
    target.codes.resize(inputs.size());
    table.with_text(task.file, task.chunk.begin, task.chunk.end, [&](RowText run) {
      findings[at(t)] =
          parse_rows(table.files()[task.file].source, run, task.chunk.rows, task.keep, plans[task.file], target);
    });
  });
  std::vector<std::vector<std::string>> words;
  bool converted = false;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    words.push_back(join(findings, static_cast<Index>(k), limit, converted).words.words());
  if (converted)
    context.warn("not_utf8", "{}: some categories are not UTF-8; they were read as Latin-1", table.origin());
  return words;
}

void mark_text(CsvColumns& columns, const std::vector<Index>& table_columns) {
  const auto text = [&](Index column) { return std::ranges::binary_search(table_columns, column); };
  if (columns.label >= 0 && text(columns.label)) columns.label_is_text = true;
  for (std::size_t i = 0; i < columns.inputs.size(); ++i)
    if (text(columns.input_columns[i])) columns.inputs[i].kind = ColumnKind::categorical;
}

std::vector<RowPlan> feature_plans(const CsvTable& table, const CsvColumns& columns) {
  const TablePlan plan = plan_features(table, columns);
  return table.plans(plan.fields, plan.common);
}

}  // namespace ecotone
