#include "ecotone/data/formats/csv/kinds.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "ecotone/base/error.h"
#include "ecotone/data/formats/csv/almost.h"
#include "ecotone/data/formats/csv/looks.h"
#include "ecotone/data/formats/date.h"
#include "ecotone/data/formats/encode.h"

namespace ecotone {

namespace {

/// A column of text with too many levels.
struct CrowdedColumn {
  Index input = 0;
  Almost almost = Almost::nothing;
};

/// What most values of a column are that one is not: "numbers".
const char* plural_of(Almost kind) { return kind == Almost::dates ? "dates" : "numbers"; }

/// Names the columns that have too many levels ("'id', 'name'"), and a text that shows why one is text.
[[noreturn]] void too_many_levels(const CsvTable& table, const CsvColumns& columns,
                                  const std::vector<CrowdedColumn>& crowded, const Context& context) {
  std::vector<std::string> names;
  for (const CrowdedColumn& each : crowded) names.push_back(columns.inputs[at(each.input)].name);
  const bool one = names.size() == 1;
  const auto damaged =
      std::ranges::find_if(crowded, [](const CrowdedColumn& each) { return each.almost != Almost::nothing; });
  const CrowdedColumn& shown = damaged == crowded.end() ? crowded.front() : *damaged;
  const OddText odd = odd_texts(table, {columns.input_columns[at(shown.input)]}, {shown.almost}, context).front();
  std::string why = odd.text.empty()
                        ? ", too many for a category;"
                        : fmt::format(" (such as '{}' in {}), too many for a category;", odd.text, odd.place);
  if (shown.almost != Almost::nothing && !odd.text.empty())
    why = fmt::format(
        ", too many for a category; most of '{}' are {}, but '{}' in {} is not: mend that field, leave it empty, or",
        columns.inputs[at(shown.input)].name, plural_of(shown.almost), odd.text, odd.place);
  data_error("too_many_levels",
             "{}: {} '{}' {} more than {} distinct values{} leave {} out with --ignore {} (or name the column that "
             "names rows with --id){}",
             table.origin(), one ? "column" : "columns", fmt::join(names, "', '"), one ? "holds" : "each hold",
             most_levels, why, one ? "it" : "them", fmt::join(names, ","),
             shown.almost == Almost::nothing ? "; 'trees' takes such columns as they are" : "");
}

/// Of these inputs, all of text, those whose text is another in every row. More rows than the texts of which fit into
/// memory are not looked at.
std::vector<Index> id_like(const CsvTable& table, const CsvColumns& columns, const std::vector<Index>& inputs,
                           const Context& context) {
  constexpr Index most_rows = 1'000'000;
  std::vector<Index> found;
  if (table.rows() > most_rows || columns.chosen) return found;
  const auto words = collect_words(table, columns, inputs, at(table.rows()), context);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (std::ssize(words[k]) == table.rows()) found.push_back(inputs[k]);
  return found;
}

/// The inputs with too many levels, if all of them look like ids; otherwise an error.
std::vector<Index> ids_among(const CsvTable& table, const CsvColumns& columns,
                             const std::vector<CrowdedColumn>& crowded, const Context& context) {
  std::vector<Index> inputs;
  for (const CrowdedColumn& each : crowded) inputs.push_back(each.input);
  // A measurement may differ in every row, too: with a typing error among its numbers it is not an id.
  const bool damaged =
      std::ranges::any_of(crowded, [](const CrowdedColumn& each) { return each.almost != Almost::nothing; });
  if (damaged || inputs.size() == columns.inputs.size() || id_like(table, columns, inputs, context) != inputs)
    too_many_levels(table, columns, crowded, context);
  return inputs;
}

/// Of coded inputs with many levels, those that look like ids, unless nothing would be left.
std::vector<Index> coded_ids(const CsvTable& table, const CsvColumns& columns,
                             const std::vector<CrowdedColumn>& crowded) {
  std::vector<Index> inputs;
  for (const CrowdedColumn& each : crowded)
    if (each.almost == Almost::nothing && std::ssize(columns.inputs[at(each.input)].levels) == table.rows())
      inputs.push_back(each.input);
  return columns.chosen || inputs.size() == columns.inputs.size() ? std::vector<Index>{} : inputs;
}

/// Makes these inputs (ascending) no inputs.
void leave_out(CsvColumns& columns, const std::vector<Index>& inputs, const Context& context) {
  for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
    const std::string name = columns.inputs[at(*input)].name;
    context.warn("id_like",
                 "column '{}' has another text in every row, like an id, and is left out; say so with --id {} or "
                 "--ignore {}",
                 name, name, name);
    columns.left_out.insert(columns.left_out.begin(), name);
    columns.inputs.erase(columns.inputs.begin() + *input);
    columns.input_columns.erase(columns.input_columns.begin() + *input);
  }
}

}  // namespace

void settle_text(const CsvTable& table, CsvColumns& columns, const std::vector<Index>& found, const Context& context) {
  mark_text(columns, found);
  if (columns.known_levels) return;
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < columns.inputs.size(); ++i)
    if (std::ranges::binary_search(found, columns.input_columns[i])) inputs.push_back(i);
  std::vector<TextLook> looks;
  // The first run of records rules most columns out without another pass over the files.
  for (const std::size_t tasks : {std::size_t{1}, table.tasks().size()}) {
    if (inputs.empty()) return;
    std::vector<Index> texts;
    for (const std::size_t i : inputs) texts.push_back(columns.input_columns[i]);
    looks = look_at_texts(table, texts, tasks, context);
    for (std::size_t k = inputs.size(); k-- > 0;) {
      if (!looks[k].other) continue;
      inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(k));
      looks.erase(looks.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Column& column = columns.inputs[inputs[k]];
    if (looks[k].is_date()) {
      column.kind = ColumnKind::date;
      column.slashes = looks[k].slashes();
      context.note("column '{}' holds dates: it becomes a number of days since 1970-01-01", column.name);
    } else if (looks[k].is_ambiguous_date()) {
      context.warn("ambiguous_date",
                   "column '{}' holds dates such as '{}', which may begin with the day or the month, and stays text; "
                   "write them as 2020-01-31, or leave the column out with --ignore",
                   column.name, looks[k].first);
    } else if (looks[k].day_first && looks[k].month_first) {
      context.warn("ambiguous_date",
                   "column '{}' holds dates of which some begin with the day and some with the month, and stays text; "
                   "write them as 2020-01-31, or leave the column out with --ignore",
                   column.name);
    }
  }
}

void sniff(const CsvTable& table, CsvColumns& columns, const Context& context) {
  const auto first = std::ranges::find_if(table.tasks(), [](const CsvTask& task) { return task.kept > 0; });
  CsvColumns numbers = columns;
  const CsvValues values = parse_values(table, numbers, {&*first, 1}, ValueStore::checked, context);
  settle_text(table, columns, values.not_number, context);
}

Column time_form(const CsvTable& table, Index column, const Context& context) {
  const std::string& name = table.names()[at(column)];
  const TextLook look = look_at_texts(table, {column}, table.tasks().size(), context).front();
  const auto date = [&](SlashOrder order) {
    double days = 0;
    return parse_date(look.first, order, days);
  };
  if (!date(SlashOrder::day_first) && !date(SlashOrder::month_first)) return {name, ColumnKind::numeric, {}};
  if (look.is_ambiguous_date())
    data_error("ambiguous_date",
               "{}: column '{}' holds dates such as '{}', which may begin with the day or the month; write them as "
               "2020-01-31",
               table.origin(), name, look.first);
  return {name, ColumnKind::date, {}, look.slashes()};
}

void find_levels(const CsvTable& table, CsvColumns& columns, const Context& context) {
  std::vector<Index> wanted;
  for (std::size_t i = 0; i < columns.inputs.size(); ++i)
    if (columns.inputs[i].kind == ColumnKind::categorical && columns.inputs[i].levels.empty())
      wanted.push_back(static_cast<Index>(i));
  if (wanted.empty()) return;
  constexpr std::size_t any_number = std::numeric_limits<std::int32_t>::max();
  std::vector<std::vector<std::string>> words =
      collect_words(table, columns, wanted, columns.codes ? any_number : most_levels + 1, context);
  std::vector<CrowdedColumn> crowded;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (words[k].size() > most_levels) crowded.push_back({wanted[k], almost(table, words[k])});
    Column& column = columns.inputs[at(wanted[k])];
    column.levels = std::move(words[k]);
    column.coded = columns.codes;
    std::ranges::sort(column.levels);
  }
  if (crowded.empty()) return;
  leave_out(columns, columns.codes ? coded_ids(table, columns, crowded) : ids_among(table, columns, crowded, context),
            context);
}

void warn_almost(const CsvTable& table, const CsvColumns& columns, const CsvValues& values, const Context& context) {
  std::vector<Index> found;
  std::vector<Almost> kinds;
  std::vector<std::string> read_as;
  const auto look = [&](Index column, const std::vector<std::string>& words, const char* what) {
    const Almost kind = almost(table, words);
    if (kind == Almost::nothing) return;
    found.push_back(column);
    kinds.push_back(kind);
    read_as.push_back(fmt::format("{} {}", words.size(), what));
  };
  for (std::size_t i = 0; i < columns.inputs.size(); ++i)
    if (columns.inputs[i].kind == ColumnKind::categorical)
      look(columns.input_columns[i], columns.inputs[i].levels, "categories");
  if (columns.label_is_text) look(columns.label, values.label_words, "classes");
  if (found.empty()) return;
  const std::vector<OddText> odd = odd_texts(table, found, kinds, context);
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (odd[k].text.empty()) continue;
    const std::string& name = table.names()[at(found[k])];
    context.warn("almost_numbers", "column '{}' is read as {}: most are {}, but '{}' in {} is not; mend that field{}",
                 name, read_as[k], plural_of(kinds[k]), odd[k].text, odd[k].place,
                 found[k] == columns.label
                     ? " or leave it empty"
                     : fmt::format(", leave it empty, or leave the column out with --ignore {}", name));
  }
}

}  // namespace ecotone
