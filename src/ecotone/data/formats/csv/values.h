#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ecotone/data/formats/csv/table.h"
#include "ecotone/data/schema.h"
#include "ecotone/data/storage/csv_storage.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// What each column of a table is read as; -1: none.
struct CsvColumns {
  Index label = -1;
  Index domain = -1;
  Index weight = -1;
  Index group = -1;
  Index time = -1;
  Column time_form = {};  ///< whether times are numbers or dates
  bool label_is_text = false;
  bool known_levels = false;         ///< the inputs are those of a model: text in place of a number is an error
  std::vector<Index> input_columns;  ///< the table's column of each input
  std::vector<Column> inputs;
  bool chosen = false;                     ///< the user named the inputs
  bool codes = false;                      ///< categories are codes, however many levels they have
  std::vector<std::string> left_out = {};  ///< columns that look like ids and are no inputs any more

  /// Number of features.
  Index cols() const;
  /// All columns that are read.
  std::vector<Index> used() const;
};

/// Where features go: into memory; nowhere, but with the positions of the blocks recorded; or nowhere.
enum class ValueStore { dense, streamed, checked };

/// The values of a table's rows.
struct CsvValues {
  Matrix x;                      ///< dense
  std::vector<CsvBlock> blocks;  ///< streamed
  Vector label;
  std::vector<std::int32_t> label_codes;
  std::vector<std::string> label_words;
  Vector weight;
  Vector time;
  std::vector<std::int32_t> group_codes;
  std::vector<std::int32_t> domain_codes;
  std::vector<std::string> domain_words;
  std::vector<Index> unseen;      ///< by categorical input: rows whose text is not a level
  std::vector<Index> not_number;  ///< columns of the table read as numbers that hold other text
  bool converted = false;         ///< some text was not UTF-8
};

/// Parses the rows of some tasks (all, or the first) on all threads.
CsvValues parse_values(const CsvTable& table, const CsvColumns& columns, std::span<const CsvTask> tasks,
                       ValueStore store, const Context& context);

/// The distinct texts of some inputs, each list cut at `limit`. Warns (`not_utf8`) if some had to be converted.
std::vector<std::vector<std::string>> collect_words(const CsvTable& table, const CsvColumns& columns,
                                                    const std::vector<Index>& inputs, std::size_t limit,
                                                    const Context& context);

/// Marks these columns of the table (ascending) as text.
void mark_text(CsvColumns& columns, const std::vector<Index>& table_columns);

/// Plans that fill in the features and skip everything else.
std::vector<RowPlan> feature_plans(const CsvTable& table, const CsvColumns& columns);

}  // namespace ecotone
