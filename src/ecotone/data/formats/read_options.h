#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/base/options.h"
#include "ecotone/data/schema.h"

namespace ecotone {

/// A column as it stands in the files.
struct TextColumn {
  std::string name;
  std::vector<std::string> texts;
};

/// How files become a data set; the command-line flags have the same names.
struct ReadOptions {
  std::string label = {};                  ///< column name; empty: none
  std::string domain = {};                 ///< column name; empty: one domain
  std::string weight = {};                 ///< column name of row weights; empty: none
  std::string group = {};                  ///< column name of groups of rows, such as patients; empty: none
  std::string time = {};                   ///< column name of times, numbers or dates; empty: none
  std::string id = {};                     ///< column that names rows; not a feature
  std::vector<std::string> keep = {};      ///< columns of new data that are passed through as text, after the id
  std::vector<std::string> ignore = {};    ///< columns to leave out
  std::vector<std::string> features = {};  ///< the only feature columns; empty: all others
  std::vector<std::string> where = {};     ///< row filters: COLUMN(==|!=|<|<=|>|>=)VALUE, all must hold
  std::optional<Task> task = {};           ///< empty: guessed and reported as a note
  std::vector<std::string> target = {};    ///< names of target domains
  bool domain_from_file = false;           ///< each file is a domain, named by its stem
  std::string labels_file = {};            ///< IDX or NPY labels
  int base = -1;                           ///< svmlight: 0 or 1; -1 detects (1 unless an index 0 occurs)
  std::string format = {};                 ///< name of a format, see format.h; empty: detected
  std::string decimal = {};                ///< decimal sign of CSV files, "." or ","; empty: detected
  bool stream = false;                     ///< leave CSV features in the file even if they would fit into memory
  bool codes = false;                      ///< a column of text is one feature of codes, with any number of levels
  bool own_rows = false;                   ///< of several ranks, each keeps only its own rows of a CSV file in memory

  /// All but `where`, `format`, `codes` and `own_rows`.
  static constexpr auto fields() {
    using O = ReadOptions;
    return std::tuple{
        field("label", &O::label, "The column to predict", shown_as("COLUMN")),
        field("domain", &O::domain, "The column that names each row's domain", shown_as("COLUMN")),
        field("weight", &O::weight, "Row weights", shown_as("COLUMN")),
        field("group", &O::group, "Rows with the same text here, such as a patient, stay together in every split",
              shown_as("COLUMN")),
        field("time", &O::time, "When each row was observed, a number or a date; orders rows and is not a feature",
              shown_as("COLUMN")),
        field("id", &O::id, "The column that names rows; not a feature", shown_as("COLUMN")),
        field("keep", &O::keep, "Columns to pass through as text, after the one that names rows",
              shown_as("COLUMN,..")),
        field("ignore", &O::ignore, "Columns to leave out", shown_as("COLUMN,..")),
        field("features", &O::features, "Use only these feature columns (default: all others)", shown_as("COLUMN,..")),
        field("task", &O::task, "classify or regress (default: guessed from the labels and reported)",
              shown_as("TASK", one_of("classify", "regress"))),
        field("target", &O::target, "Target domains: fitting may use their features but never their labels"),
        field("domain_from_file", &O::domain_from_file, "Treat each file as a domain named after it"),
        field("decimal", &O::decimal,
              "Decimal sign of CSV files, . or , (default: detected where ; or tabs separate columns)",
              shown_as("SIGN", one_of(".", ","))),
        field("stream", &O::stream, "Read CSV features from disk on every pass instead of loading them"),
        field("labels", &O::labels_file, "Labels of IDX or NPY data", shown_as("FILE")),
        field("base", &O::base, "First index of svmlight files, 0 or 1 (default: detected)", between(0, 1))};
  }
};

}  // namespace ecotone
