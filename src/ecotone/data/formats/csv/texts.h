#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/data/formats/csv/table.h"
#include "ecotone/data/formats/read_options.h"

namespace ecotone {

/// One row of CSV files as it stands there.
struct TextRow {
  Index row = 0;                        ///< of the files, counted from 0
  std::span<const std::string> fields;  ///< UTF-8, unquoted and trimmed, in the order of the first file's columns
  NumberStyle numbers;                  ///< how its file writes them
};

/// The fields of CSV files as text, all rows and columns, for outputs that repeat them. The files stay open.
class CsvTexts {
 public:
  /// Opens the files of a data set; empty if they are of another format. Data error `missing_column` if a file lacks a
  /// column of the first.
  static std::optional<CsvTexts> open(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                                      const Schema& schema, const Context& context);

  /// The columns of the first file.
  const std::vector<std::string>& names() const { return table_.names(); }
  /// Position of a column; data error `unknown_column`.
  Index find(const std::string& name) const;
  /// Between the columns of the first file.
  char delimiter() const { return table_.files().front().delimiter; }
  Index rows() const { return table_.rows(); }
  /// The number of each file's first row.
  std::vector<Index> first_rows() const;

  /// The texts of one column, by row of the files.
  std::vector<std::string> column(const std::string& name, const Context& context) const;
  /// The fields of these rows (ascending).
  std::vector<std::vector<std::string>> fields(const std::vector<Index>& rows, const Context& context) const;

  /// Calls append(row, text) for all rows, on all threads, and passes the texts on in the order of the rows. File error
  /// `file_changed` if a file is no longer what was opened.
  using Append = std::function<void(const TextRow& row, std::string& text)>;
  void write(const Append& append, const std::function<void(std::string_view)>& use, const Context& context) const;

 private:
  explicit CsvTexts(CsvTable table) : table_(std::move(table)) {}
  std::vector<Index> all_columns() const;

  CsvTable table_;
};

}  // namespace ecotone
