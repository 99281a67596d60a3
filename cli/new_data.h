#pragma once

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

  bool to_screen() const { return output.empty() || output == "-"; }
};
void add_new_data_flags(Flags& flags, NewDataFlags& inputs);

/// The model, and the data read with its columns.
struct NewData {
  Model model;
  Dataset data;
  bool has_domains = false;  ///< whether the data have a domain column

  /// Everything that the model may use.
  Batch batch() const;
};
NewData read_new_data(const NewDataFlags& flags, Session& session);

}  // namespace ecotone::cli
