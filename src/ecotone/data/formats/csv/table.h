#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ecotone/data/formats/byte_source.h"
#include "ecotone/data/formats/csv/rows.h"
#include "ecotone/data/formats/csv/scan.h"
#include "ecotone/data/formats/where.h"

namespace ecotone {

/// How CSV files are read; does not affect results. For tests.
struct CsvTuning {
  std::size_t segment_bytes = std::size_t{1} << 20;
  bool stream = false;  ///< leave the features in the file even if they would fit into memory
};

/// A CSV file with its header read.
struct CsvFile {
  ByteSource source;
  char delimiter = ',';
  NumberStyle numbers = {};
  std::vector<std::string> names;
  std::size_t data_begin = 0;  ///< first byte after the header
  std::vector<Index> column;   ///< the table's column at each position; -1: not in the table
};

/// A run of records of one file, parsed as one task.
struct CsvTask {
  std::size_t file = 0;
  CsvChunk chunk;
  Index first_kept = 0;  ///< number of its first kept row in the table
  Index kept = 0;
  std::vector<char> keep = {};  ///< one per record; empty: all are kept
};

/// Several CSV files as one table: columns matched by name, records found and filtered, nothing parsed yet.
class CsvTable {
 public:
  /// Reads the headers; the table's columns are those of the first file.
  static CsvTable open(std::vector<ByteSource> sources, const Context& context);

  /// Finds the records. Data error `empty_data` if there are none.
  void find_records(std::size_t segment_bytes, const Context& context);
  /// How numbers are written in a file.
  void set_numbers(std::size_t file, NumberStyle style) { files_[file].numbers = style; }
  /// Keeps the records that satisfy all conditions.
  void keep_where(const std::vector<std::string>& where, const Context& context);
  /// Data error `missing_column` unless every file has all these columns of the table.
  void require_columns(const std::vector<Index>& columns) const;
  /// Data error `missing_column` if a later file has a column that the first lacks and that is not ignored.
  void refuse_further_columns(const std::vector<std::string>& ignored) const;

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<CsvFile>& files() const { return files_; }
  const std::vector<CsvTask>& tasks() const { return tasks_; }
  Index rows() const { return rows_; }
  /// Rows that keep_where left out.
  Index dropped() const { return dropped_; }
  /// Numbers of the kept rows among all records, from 0 over the files in order; empty if all are kept.
  std::vector<Index> origin_rows() const;
  const std::string& origin() const { return files_.front().source.name(); }

  /// A plan for each file, given the plan for each column of the table.
  std::vector<RowPlan> plans(const std::vector<FieldPlan>& by_column, const RowPlan& common) const;
  /// The position of a column of the table in a file.
  std::size_t position(std::size_t file, Index column) const;

  /// Calls `use(task, record, texts of the columns)` for every kept record, on all threads; those of one task in order.
  using Visit = std::function<void(std::size_t task, Index record, std::span<const std::string> texts)>;
  void visit(const std::vector<Index>& columns, const Visit& use, const Context& context) const;
  /// The same for one task, on this thread.
  void visit_task(std::size_t task, const std::vector<Index>& columns, const Visit& use) const;
  /// The same for the first `tasks` tasks, where a record with a wrong number of fields ends the visit of its task and
  /// is not an error. Returns how many tasks there are up to the first that ended so.
  std::size_t visit_leniently(const std::vector<Index>& columns, std::size_t tasks, const Visit& use,
                              const Context& context) const;

  /// The line (from 1) of its file on which a record of a task starts. Reads the file from its start: for messages.
  Index line_of(std::size_t task, Index record) const;

  /// Loads bytes [begin, end) of a file, which are whole records, and calls body(run) with them.
  void with_text(std::size_t file, std::size_t begin, std::size_t end, const std::function<void(RowText)>& body) const;

 private:
  std::vector<RowPlan> plain_plans() const;
  void visit_task(std::size_t task, const std::vector<RowPlan>& plans, const std::vector<Index>& columns,
                  const Visit& use) const;
  void filter(const std::vector<Condition>& conditions, const Context& context);

  std::vector<CsvFile> files_;
  std::vector<std::string> names_;
  std::vector<CsvTask> tasks_;
  Index rows_ = 0;
  Index dropped_ = 0;
  std::shared_ptr<BufferPool> pool_ = std::make_shared<BufferPool>();
};

}  // namespace ecotone
