#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "ecotone/methods/model.h"

namespace ecotone::cli {

/// MODEL DATA... -o FILE: the arguments of predict and transform.
struct NewDataFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  std::string output;
  bool writes_eco = false;  ///< where the output's name says so

  bool to_screen() const { return output.empty() || output == "-"; }
};
void add_new_data_flags(Flags& flags, NewDataFlags& inputs);

/// The model, and the data read with its columns.
struct NewData {
  Model model;
  Dataset data;
  bool has_domains = false;        ///< whether the data have a domain column
  std::vector<TextColumn> passed;  ///< columns that are written as they are, before all others

  /// Everything that the model may use.
  Batch batch() const;
  /// The same of some rows.
  Batch batch(std::span<const Index> rows) const;
};
NewData read_new_data(const NewDataFlags& flags, Session& session);

/// The header line of the passed columns and these. Data error `column_clash` if two have the same name.
std::string new_data_header(const NewData& in, const std::vector<std::string>& names);
/// The start of a row: its passed columns, each with a comma.
void append_passed(const NewData& in, Index row, std::string& text);
/// {name: [text of each row]}.
Json passed_json(const NewData& in);

}  // namespace ecotone::cli
