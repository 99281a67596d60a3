#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/data/schema.h"

namespace ecotone {

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
  std::string format = {};                 ///< name of a format, see format.h; empty: detected
  bool stream = false;                     ///< leave CSV features in the file even where they would fit into memory
};

}  // namespace ecotone
