#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "ecotone/methods/model.h"

namespace ecotone::cli {

/// MODEL DATA... -o FILE: what predict and transform are given.
struct NewDataFlags {
  std::vector<std::string> arguments;
  ReadOptions read;
  std::string output;

  bool to_screen() const { return output.empty() || output == "-"; }
};
void add_new_data_flags(Flags& flags, NewDataFlags& inputs);

/// The model and the data that are read as it wants them.
struct NewData {
  Model model;
  Dataset data;
  bool has_domains = false;  ///< whether the data say where rows come from

  /// All that the model may see.
  Batch batch() const;
};
NewData read_new_data(const NewDataFlags& flags, Session& session);

}  // namespace ecotone::cli
