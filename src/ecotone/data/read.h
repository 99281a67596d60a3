#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

enum class FileFormat { detect, csv, svmlight, npy, idx, cifar, eco };

/// How files become a data set; the flags of the same names on the command line.
struct ReadOptions {
  std::string label = {};                  ///< column name; empty: none
  std::string domain = {};                 ///< column name; empty: one domain
  std::string weight = {};                 ///< column name of row weights; empty: none
  std::vector<std::string> ignore = {};    ///< columns left out
  std::vector<std::string> features = {};  ///< the only feature columns; empty: all others
  std::vector<std::string> where = {};     ///< row filters: COLUMN(==|!=|<|<=|>|>=)VALUE, all must hold
  std::optional<Task> task = {};           ///< empty: guessed, and said as a note
  std::vector<std::string> target = {};    ///< names of target domains
  bool domain_from_file = false;           ///< each file is a domain, named by its stem
  std::string labels_file = {};            ///< IDX or NPY labels
  int base = -1;                           ///< svmlight: 0 or 1; -1 detects (1 unless an index 0 occurs)
  FileFormat format = FileFormat::detect;
  bool stream = false;  ///< leave CSV features in the file even where they would fit into memory
};

/// Reads one data set from one or more files (same columns, matched by name). Formats by extension (.csv .tsv .svmlight
/// .svm .libsvm .npy .idx *-ubyte .bin .eco, each also .gz but .eco) or content.
Dataset read_dataset(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                     const Context& context);

/// Reads new data for a model: columns are matched with the schema by name; a missing one is the data error
/// `missing_column`; text where a number is expected is `bad_value` with line and column; categories that the model
/// does not know become all zeros and are counted in the warning `unseen_category`; further columns are ignored. Label,
/// domain and weight columns may be absent. A file without names (svmlight, NPY, IDX) is matched by position and must
/// have as many columns (svmlight: not more).
Dataset read_for_model(const std::vector<std::filesystem::path>& paths, const Schema& schema,
                       const ReadOptions& options, const Context& context);

/// The same for the text of a CSV file that is in memory, header first, such as rows that a service was sent; messages
/// call it `name`.
Dataset parse_for_model(std::string csv, std::string name, const Schema& schema, const ReadOptions& options,
                        const Context& context);

/// Writes a data set as `.eco` (safetensors): x (dense f64, or CSR arrays), label, domain, weight; schema and names in
/// the metadata.
void write_eco(const Dataset& data, const std::filesystem::path& path, const Context& context);

/// Writes a data set as CSV: domain, features, weight, label; numbers in shortest round-trip form.
void write_csv(const Dataset& data, const std::filesystem::path& path, const Context& context);

}  // namespace ecotone
