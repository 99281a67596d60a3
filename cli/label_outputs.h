#pragma once

#include <string>
#include <vector>

#include "cli/label.h"

namespace ecotone::cli {

/// Names of the files in the folder.
inline constexpr const char* journal_name = "labels.sqlite";
inline constexpr const char* table_name = "labelled.csv";
inline constexpr const char* events_name = "journal.jsonl";
inline constexpr const char* model_name = "model.eco";

/// What was written at the end of a session.
struct LabelOutputs {
  std::optional<Index> stored = {};  ///< answers of a spreadsheet
  std::vector<std::string> files;
  std::string model_error;  ///< why there is no model; empty: there is one
};

/// Writes labelled.csv, journal.jsonl and model.eco, each whole or not at all. A model that cannot be fitted is told in
/// the result; an old model file is removed then, because it would be of other labels.
LabelOutputs write_label_outputs(const LabelWork& work);

/// Says, and prints as JSON, what has been labelled and written.
void tell_label_outputs(const LabelWork& work, const DeskProgress& progress, const LabelOutputs& outputs);

}  // namespace ecotone::cli
