#pragma once

#include <string>
#include <vector>

#include "ecotone/data/formats/csv/table.h"

namespace ecotone {

/// What the texts of a column look like.
struct TextLook {
  std::string first;         ///< the first that is not missing; empty: there is none
  bool other = false;        ///< some are not dates
  bool day_first = false;    ///< some are dates only if the day comes first, such as 31/01/2020
  bool month_first = false;  ///< some are dates only if the month comes first
  bool either = false;       ///< some are dates in both orders, such as 03/04/2020

  /// All are dates, and the order of day and month is known wherever it matters.
  bool is_date() const { return !first.empty() && !other && !(day_first && month_first) && !is_ambiguous_date(); }
  /// All are dates, but whether days or months come first cannot be told.
  bool is_ambiguous_date() const { return !other && either && !day_first && !month_first; }
  SlashOrder slashes() const {
    return day_first ? SlashOrder::day_first : month_first ? SlashOrder::month_first : SlashOrder::none;
  }
};

/// Looks at the texts of these columns of the table in all kept rows.
std::vector<TextLook> look_at_texts(const CsvTable& table, const std::vector<Index>& columns, const Context& context);

}  // namespace ecotone
