#include "ecotone/data/formats/csv/almost.h"

#include <algorithm>

#include "ecotone/data/formats/date.h"

namespace ecotone {

namespace {

bool spells_number(std::string_view text, const CsvFile& file) {
  double value = 0;
  return parse_value(trim(text), file.numbers, value);
}

bool spells_any_number(std::string_view text, const CsvFile& file) {
  double value = 0;
  text = trim(text);
  return parse_value(text, file.numbers, value) ||
         (file.delimiter != ',' && (parse_value(text, {',', true}, value) || parse_value(text, {'.', true}, value)));
}

bool spells_date(std::string_view text) {
  double days = 0;
  text = trim(text);
  return is_missing(text) || parse_date(text, SlashOrder::day_first, days) ||
         parse_date(text, SlashOrder::month_first, days);
}

bool fits(std::string_view text, Almost expected, const CsvFile& file) {
  if (expected == Almost::dates) return spells_date(text);
  return expected == Almost::other_numbers ? spells_any_number(text, file) : spells_number(text, file);
}

/// Where an odd text was found.
struct OddPlace {
  std::string text;
  std::size_t task = 0;
  Index record = 0;
};

}  // namespace

Almost almost(const CsvTable& table, std::span<const std::string> words) {
  constexpr std::ptrdiff_t fewest_words = 10;
  if (std::ssize(words) < fewest_words) return Almost::nothing;
  for (const Almost kind : {Almost::numbers, Almost::other_numbers, Almost::dates}) {
    const auto count = std::ranges::count_if(words, [&](const std::string& word) {
      return std::ranges::any_of(table.files(), [&](const CsvFile& file) { return fits(word, kind, file); });
    });
    if (2 * count >= std::ssize(words)) return kind;
  }
  return Almost::nothing;
}

std::vector<OddText> odd_texts(const CsvTable& table, const std::vector<Index>& columns,
                               const std::vector<Almost>& expected, const Context& context) {
  std::vector<std::vector<OddPlace>> found(table.tasks().size(), std::vector<OddPlace>(columns.size()));
  table.visit(
      columns,
      [&](std::size_t task, Index record, std::span<const std::string> texts) {
        const CsvFile& file = table.files()[table.tasks()[task].file];
        for (std::size_t c = 0; c < texts.size(); ++c) {
          OddPlace& place = found[task][c];
          if (place.text.empty() && !fits(texts[c], expected[c], file)) place = {texts[c], task, record};
        }
      },
      context);
  std::vector<OddText> odd(columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const auto first = std::ranges::find_if(found, [&](const auto& places) { return !places[c].text.empty(); });
    if (first == found.end()) continue;
    const OddPlace& place = (*first)[c];
    bool changed = false;
    const std::string& file = table.files()[table.tasks()[place.task].file].source.name();
    odd[c] = {shortened(to_utf8(place.text, changed), 40),
              fmt::format("{} line {}", file, table.line_of(place.task, place.record))};
  }
  return odd;
}

}  // namespace ecotone
