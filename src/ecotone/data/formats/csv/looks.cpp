#include "ecotone/data/formats/csv/looks.h"

#include "ecotone/data/formats/date.h"
#include "ecotone/data/formats/number.h"

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

}  // namespace

std::vector<TextLook> look_at_texts(const CsvTable& table, const std::vector<Index>& columns, const Context& context) {
  std::vector<std::vector<TextLook>> parts(table.tasks().size(), std::vector<TextLook>(columns.size()));
  table.visit(
      columns,
      [&](std::size_t task, Index, std::span<const std::string> texts) {
        for (std::size_t c = 0; c < texts.size(); ++c) look_at(trim(texts[c]), parts[task][c]);
      },
      context);
  std::vector<TextLook> looks(columns.size());
  for (const std::vector<TextLook>& part : parts)
    for (std::size_t c = 0; c < columns.size(); ++c) join(looks[c], part[c]);
  return looks;
}

}  // namespace ecotone
