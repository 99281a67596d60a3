#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/data/formats/byte_source.h"
#include "ecotone/data/formats/dictionary.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/data/schema.h"

namespace ecotone {

/// What happens to the fields of one column.
enum class FieldUse : std::uint8_t {
  skip,
  feature,  ///< a number into column `slot` of x
  number,   ///< a number into array `slot`
  level,    ///< one-hot or a code into x by the levels of `slot`
  code,     ///< text numbered by dictionary `slot`
};

/// What the numbers of a column look like.
struct NumberForm {
  bool date = false;
  SlashOrder slashes = SlashOrder::none;  ///< of dates
};

struct FieldPlan {
  FieldUse use = FieldUse::skip;
  bool strict = false;  ///< text in place of a number is an error (otherwise it is recorded)
  Index slot = 0;
  NumberForm form = {};
  bool required = false;  ///< a missing or infinite number is an error, too
};

/// A categorical input with known levels.
struct LevelColumn {
  std::string name;
  Index first = 0;     ///< its first column of x
  Index width = 0;     ///< its columns of x
  bool coded = false;  ///< one column, the index of the level, instead of one per level
  TextMap<std::int32_t> index;
};

/// How the records of a file are read.
struct RowPlan {
  char delimiter = ',';
  NumberStyle numbers = {};
  std::vector<FieldPlan> fields;   ///< one per column of the file
  std::vector<std::string> names;  ///< the file's header; for messages
  std::vector<LevelColumn> levels;
  Index n_codes = 0;
  std::size_t code_limit = std::numeric_limits<std::int32_t>::max();
};

/// Where a block of rows starts in its chunk.
struct BlockStart {
  std::size_t offset = 0;  ///< byte in the file
  Index record = 0;        ///< record of the chunk
};

/// Where the values of one run of records go; pointers refer to the place of its first kept row.
struct RowTarget {
  double* x = nullptr;
  Index x_stride = 0;  ///< 0: all rows go to one place (checked, not kept)
  std::vector<double*> numbers;
  std::vector<std::int32_t*> codes;  ///< may be null: only the dictionary is wanted
  std::vector<BlockStart>* starts =
      nullptr;  ///< filled for kept rows whose number (from first_row) is a multiple of block_rows
  Index first_row = 0;
  Index block_rows = 1;
};

/// What was found in addition to the values.
struct RowFindings {
  std::vector<Dictionary> dictionaries;
  std::vector<char> not_number;  ///< by column of the file; empty if all numbers are valid
  std::vector<Index> unseen;     ///< by level column: rows whose text is not a level
};

/// Bytes that must follow the text of a run: a line end and what number parsing may read beyond it.
inline constexpr std::size_t csv_padding = 32;

/// A run of whole records in memory, followed by csv_padding bytes that it may overwrite.
struct RowText {
  std::span<char> text;    ///< with the padding
  std::size_t offset = 0;  ///< position of its first byte in the file
};

/// Parses `records` records of a run. `keep` (empty: all) has one entry per record. Data errors `ragged_row` and, if
/// strict, `bad_value`; file error `file_changed` if there are fewer records than expected.
RowFindings parse_rows(const ByteSource& source, RowText run, Index records, std::span<const char> keep,
                       const RowPlan& plan, const RowTarget& target);

/// Calls `use(record, field texts by slot of `columns`)` for every kept record (empty `keep`: all); texts of the
/// columns (by position in the file) are unquoted and trimmed.
using RecordUse = std::function<void(Index record, std::span<const std::string> texts)>;
void visit_rows(const ByteSource& source, RowText run, Index records, std::span<const char> keep, const RowPlan& plan,
                const std::vector<Index>& columns, const RecordUse& use);

/// The byte in the file where a record of a run starts.
std::size_t record_start(const ByteSource& source, RowText run, Index record, const RowPlan& plan);

/// Splits one record (a header) into its fields, unquoted and trimmed.
std::vector<std::string> split_record(std::string_view record, char delimiter);

}  // namespace ecotone
