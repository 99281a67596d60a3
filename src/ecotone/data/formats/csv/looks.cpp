#include "ecotone/data/formats/csv/looks.h"

#include <algorithm>
#include <numeric>

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

/// Looks at the columns in the first `tasks` tasks: the looks of each file.
template <class Look>
std::vector<std::vector<Look>> look(const CsvTable& table, const std::vector<Index>& columns, std::size_t tasks,
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
  std::vector<std::vector<Look>> looks(table.files().size(), std::vector<Look>(columns.size()));
  for (std::size_t t = 0; t < seen; ++t)
    for (std::size_t c = 0; c < columns.size(); ++c) join(looks[table.tasks()[t].file][c], parts[t][c]);
  return looks;
}

/// The looks of some files as one.
template <class Look>
std::vector<Look> joined(const std::vector<std::vector<Look>>& looks, const std::vector<std::size_t>& files) {
  std::vector<Look> all(looks.front().size());
  for (const std::size_t file : files)
    for (std::size_t c = 0; c < all.size(); ++c) join(all[c], looks[file][c]);
  return all;
}

/// The columns that stand for a decimal comma or a point, and those that could be either.
struct Votes {
  std::vector<Index> commas, points, unclear_commas, unclear_points;
  bool grouped = false;

  bool decided() const { return commas.size() != points.size(); }
  bool comma() const { return commas.size() > points.size(); }
};

Votes votes_of(const std::vector<NumberLook>& looks, const std::vector<Index>& columns) {
  Votes votes;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const NumberLook& look = looks[c];
    if (look.point && !look.comma) votes.points.push_back(columns[c]);
    if (look.comma && !look.point) votes.commas.push_back(columns[c]);
    if (look.point && look.comma && look.dots) votes.unclear_points.push_back(columns[c]);
    if (look.point && look.comma && look.commas) votes.unclear_commas.push_back(columns[c]);
    votes.grouped = votes.grouped || (look.point && look.grouped);
  }
  return votes;
}

/// Settles how numbers are written in these files and says what was taken.
void settle(CsvTable& table, const std::vector<std::size_t>& files, const Votes& votes, const Context& context) {
  const auto semicolons = [&](std::size_t file) { return table.files()[file].delimiter == ';'; };
  const bool comma =
      votes.decided() ? votes.comma()
                      : std::ranges::any_of(files, semicolons) && votes.commas.empty() && !votes.unclear_commas.empty();
  const std::vector<Index>& against = comma ? votes.points : votes.commas;
  const std::vector<Index>& unclear = comma ? votes.unclear_points : votes.unclear_commas;
  if (comma || votes.grouped)
    for (const std::size_t file : files) table.set_numbers(file, {comma ? ',' : '.', true});
  const auto names = [&](const std::vector<Index>& of) {
    std::vector<std::string> result;
    for (const Index column : of) result.push_back(table.names()[at(column)]);
    return quoted_names(std::move(result));
  };
  const std::string& origin = table.files()[files.front()].source.name();
  const char* const taken = comma ? "comma" : "point";
  const char* const other = comma ? "." : ",";
  if (!against.empty()) {
    context.warn("ambiguous_numbers",
                 "{}: numbers are read with a decimal {}, but {} would be numbers with --decimal {}", origin, taken,
                 names(against), other);
  } else if (!votes.decided() && (!unclear.empty() || !votes.unclear_points.empty())) {
    const std::vector<Index>& doubtful = unclear.empty() ? votes.unclear_points : unclear;
    const bool one = doubtful.size() == 1;
    context.warn(
        "ambiguous_numbers",
        "{}: it cannot be told whether {} {} thousands or decimals; {} read with a decimal {} (--decimal {} changes "
        "that)",
        origin, names(doubtful), one ? "holds" : "hold", one ? "it is" : "they are", taken, other);
  } else if (comma) {
    context.note("{}: numbers are read with a decimal comma{}", origin,
                 unclear.empty() ? "" : fmt::format(", so points set thousands apart in {}", names(unclear)));
  }
}

}  // namespace

std::vector<TextLook> look_at_texts(const CsvTable& table, const std::vector<Index>& columns, std::size_t tasks,
                                    const Context& context) {
  std::vector<std::size_t> all(table.files().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return joined(look<TextLook>(table, columns, tasks, context), all);
}

void settle_numbers(CsvTable& table, const std::vector<Index>& columns, const Context& context) {
  std::vector<std::size_t> open;  // the files whose separator leaves room for decimal commas
  for (std::size_t f = 0; f < table.files().size(); ++f)
    if (table.files()[f].delimiter != ',') open.push_back(f);
  if (open.empty()) return;
  const auto looks = look<NumberLook>(table, columns, table.tasks().size(), context);
  std::vector<std::size_t> with_comma, with_point, undecided;
  for (const std::size_t file : open) {
    const Votes votes = votes_of(looks[file], columns);
    (!votes.decided() ? undecided : votes.comma() ? with_comma : with_point).push_back(file);
  }
  if (with_comma.empty() || with_point.empty())
    return settle(table, open, votes_of(joined(looks, open), columns), context);
  // Files that disagree are read each in its own way; those that do not tell have no example to follow.
  for (const std::vector<std::size_t>& files : {with_comma, with_point, undecided})
    if (!files.empty()) settle(table, files, votes_of(joined(looks, files), columns), context);
}

}  // namespace ecotone
