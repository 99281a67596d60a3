#pragma once

#include <span>
#include <string>
#include <vector>

#include "ecotone/data/formats/csv/table.h"

namespace ecotone {

/// What most texts of a column are that a few others make a column of text.
enum class Almost {
  nothing,
  numbers,        ///< in the style of their file
  other_numbers,  ///< in any style; of files that leave room for decimal commas
  dates
};

/// What at least half of at least ten distinct texts are.
Almost almost(const CsvTable& table, std::span<const std::string> words);

/// A text of a column that is no number, or no date.
struct OddText {
  std::string text;   ///< shortened; empty: there is none
  std::string place;  ///< "data.csv line 17"
};

/// The first text of each of these columns of the table in the kept rows that is not as `expected` (`nothing` stands
/// for numbers here). Every record must have the right number of fields.
std::vector<OddText> odd_texts(const CsvTable& table, const std::vector<Index>& columns,
                               const std::vector<Almost>& expected, const Context& context);

}  // namespace ecotone
