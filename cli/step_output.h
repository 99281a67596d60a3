#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/methods/select/step/step.h"

namespace ecotone::cli {

/// What `select` found with step and knows of it.
struct StepOutput {
  std::string pipeline;
  PenalisedSelection run;
  PathRoute route = PathRoute::lazy;
  std::vector<std::string> features;
  std::vector<std::string> classes;
  std::vector<std::string> domains;                   ///< those with labels
  bool by_rows = false;                               ///< rows were left out, because there is one domain
  std::vector<std::optional<double>> source_auroc;    ///< of the steps taken; empty without rows or classes
  std::vector<std::optional<double>> held_out_auroc;  ///< leave-one-domain-out
};

/// A table of the steps, and how penalty and size were chosen.
std::string step_text(const StepOutput& found);
/// Parallel arrays over the steps, under the names that the other selectors have.
Json step_json(const StepOutput& found);

}  // namespace ecotone::cli
