#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/solve/paths/greedy.h"

/// Shared by the outputs of all selectors.
namespace ecotone::cli {

/// A column of a table of steps: its head and a cell per step.
struct PathColumn {
  std::string head;
  std::vector<std::string> cells;
};
/// One line per step, the name of its feature last.
std::string path_table(const std::vector<PathColumn>& columns, const std::vector<Index>& chosen,
                       const std::vector<std::string>& features);

/// A number, or - if there is none.
std::string path_cell(double value);
std::string path_cell(const std::vector<std::optional<double>>& list, Index step);

Json list_json(const std::vector<std::optional<double>>& list);
/// All p weights after each step.
Json weights_json(const PathResult& path, std::size_t features);

}  // namespace ecotone::cli
