#include "ecotone/data/formats/csv/looks.h"

#include <algorithm>

#include "ecotone/data/formats/date.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/data/formats/roles.h"

namespace ecotone {

namespace {

void look_at(std::string_view text, TextLook& look) {
  if (is_missing(text)) return;
  if (look.first.empty()) look.first = text;
  double days = 0;
  if (look.other || parse_date(text, SlashOrder::none, days)) return;
  const bool day_first = parse_date(text, SlashOrder::day_first, days);
  const bool month_first = parse_date(text, SlashOrder::month_first, days);
  look.either |= day_first && month_first;
  look.day_first |= day_first && !month_first;
  look.month_first |= month_first && !day_first;
  look.other = !day_first && !month_first;
}

void join(TextLook& all, const TextLook& part) {
  if (all.first.empty()) all.first = part.first;
  all.other |= part.other;
  all.day_first |= part.day_first;
  all.month_first |= part.month_first;
  all.either |= part.either;
}

/// What the texts of a column are if they are read as numbers.
struct NumberLook {
  bool point = true;     ///< all are numbers with a decimal point
  bool comma = true;     ///< all are numbers with a decimal comma
  bool dots = false;     ///< some have a point
  bool commas = false;   ///< some have a comma
  bool grouped = false;  ///< with a decimal point, some have thousands set apart
};

void look_at(std::string_view text, NumberLook& look) {
  if ((!look.point && !look.comma) || is_missing(text)) return;
  double value = 0;
  look.point = look.point && parse_value(text, {'.', true}, value);
  look.comma = look.comma && parse_value(text, {',', true}, value);
  look.dots |= text.find('.') != std::string_view::npos;
  look.commas |= text.find(',') != std::string_view::npos;
  look.grouped |= look.point && !parse_number(text, value);
}

void join(NumberLook& all, const NumberLook& part) {
  all.point &= part.point;
  all.comma &= part.comma;
  all.dots |= part.dots;
  all.commas |= part.commas;
  all.grouped |= part.grouped;
}

template <class Look>
std::vector<Look> look(const CsvTable& table, const std::vector<Index>& columns, std::size_t tasks,
                       const Context& context) {
  std::vector<std::vector<Look>> parts(tasks, std::vector<Look>(columns.size()));
  // Of two faults in a file the first is reported, so that a record with a wrong number of fields is left to the pass
  // that reads the values. What stands before it decides, however the file is cut.
  const std::size_t seen = table.visit_leniently(
      columns, tasks,
      [&](std::size_t task, Index, std::span<const std::string> texts) {
        for (std::size_t c = 0; c < texts.size(); ++c) look_at(trim(texts[c]), parts[task][c]);
      },
      context);
  std::vector<Look> looks(columns.size());
  for (std::size_t t = 0; t < seen; ++t)
    for (std::size_t c = 0; c < columns.size(); ++c) join(looks[c], parts[t][c]);
  return looks;
}

}  // namespace

std::vector<TextLook> look_at_texts(const CsvTable& table, const std::vector<Index>& columns, std::size_t tasks,
                                    const Context& context) {
  return look<TextLook>(table, columns, tasks, context);
}

void settle_numbers(CsvTable& table, const std::vector<Index>& columns, const Context& context) {
  const auto separated_by = [&](char delimiter) {
    return std::ranges::any_of(table.files(), [&](const CsvFile& file) { return file.delimiter == delimiter; });
  };
  if (!separated_by(';') && !separated_by('\t')) return;
  const std::vector<NumberLook> looks = look<NumberLook>(table, columns, table.tasks().size(), context);
  std::vector<Index> commas, points, unclear_commas, unclear_points;
  bool grouped = false;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const NumberLook& look = looks[c];
    if (look.point && !look.comma) points.push_back(columns[c]);
    if (look.comma && !look.point) commas.push_back(columns[c]);
    if (look.point && look.comma && look.dots) unclear_points.push_back(columns[c]);
    if (look.point && look.comma && look.commas) unclear_commas.push_back(columns[c]);
    grouped = grouped || (look.point && look.grouped);
  }
  const bool decided = commas.size() != points.size();
  const bool comma =
      decided ? commas.size() > points.size() : separated_by(';') && commas.empty() && !unclear_commas.empty();
  const std::vector<Index>& against = comma ? points : commas;
  const std::vector<Index>& unclear = comma ? unclear_points : unclear_commas;
  if (comma || grouped) table.set_numbers({comma ? ',' : '.', true}, false);
  const auto names = [&](const std::vector<Index>& of) {
    std::vector<std::string> result;
    for (const Index column : of) result.push_back(table.names()[at(column)]);
    return quoted_names(std::move(result));
  };
  const char* const taken = comma ? "comma" : "point";
  const char* const other = comma ? "." : ",";
  if (!against.empty())
    context.warn("ambiguous_numbers",
                 "{}: numbers are read with a decimal {}, but {} would be numbers with --decimal {}", table.origin(),
                 taken, names(against), other);
  else if (!decided && (!unclear.empty() || !unclear_points.empty()))
    context.warn(
        "ambiguous_numbers",
        "{}: it cannot be told whether {} hold thousands or decimals; they are read with a decimal {} (--decimal "
        "{} changes that)",
        table.origin(), names(unclear.empty() ? unclear_points : unclear), taken, other);
  else if (comma)
    context.note("{}: numbers are read with a decimal comma{}", table.origin(),
                 unclear.empty() ? "" : fmt::format(", so points set thousands apart in {}", names(unclear)));
}

}  // namespace ecotone
