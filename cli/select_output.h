#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/methods/select/greedy/greedy.h"

namespace ecotone::cli {

/// What `select` found and knows of it.
struct SelectOutput {
  std::string pipeline;
  PathRule rule = PathRule::tgreedy;
  GreedyOptions options;
  GreedyRun run;
  std::vector<std::string> features;
  std::vector<std::string> classes;
  std::vector<std::string> domains;                   ///< those with labels
  std::vector<std::optional<double>> source_auroc;    ///< of the steps kept; empty without rows or classes
  std::vector<std::optional<double>> held_out_auroc;  ///< leave-one-domain-out
};

/// A table of the steps, and where and why the path ends.
std::string select_text(const SelectOutput& found);
/// Parallel arrays over the steps that were kept, under the names of the golden cases.
Json select_json(const SelectOutput& found);

}  // namespace ecotone::cli
