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

/// Looks at the texts of these columns of the table in the kept rows of the first `tasks` tasks.
std::vector<TextLook> look_at_texts(const CsvTable& table, const std::vector<Index>& columns, std::size_t tasks,
                                    const Context& context);

/// Finds out how numbers are written in the files that semicolons or tabs separate, from all texts of these columns of
/// the table and never from one alone: a column of 12,5 or 1.234,5 stands for decimal commas, one of 12.5 for points.
/// Files that disagree are each read in their own way. Where that cannot be told, or columns disagree, the warning
/// `ambiguous_numbers` says what was taken.
void settle_numbers(CsvTable& table, const std::vector<Index>& columns, const Context& context);

}  // namespace ecotone
