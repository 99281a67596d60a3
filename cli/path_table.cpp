#include "cli/path_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/terminal.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone::cli {
namespace {}  // namespace

std::string path_table(const std::vector<PathColumn>& columns, const std::vector<Index>& chosen,
                       const std::vector<std::string>& features) {
  std::string text;
  for (Index line = -1; line < static_cast<Index>(chosen.size()); ++line) {
    for (const PathColumn& column : columns) {
      Index width = display_width(column.head);
      for (const std::string& each : column.cells) width = std::max(width, display_width(each));
      text += pad_left(line < 0 ? column.head : column.cells[at(line)], width) + "  ";
    }
    // Last, because names may be long.
    text += line < 0 ? "feature" : one_line(features[at(chosen[at(line)])]);
    text += '\n';
  }
  return text;
}

std::string path_cell(double value) {
  if (std::isnan(value)) return "-";
  return fmt::format("{:.4g}", value);
}

std::string path_cell(const std::vector<std::optional<double>>& list, Index step) {
  if (at(step) >= list.size() || !list[at(step)]) return "-";
  return fmt::format("{:.3f}", *list[at(step)]);
}

Json list_json(const std::vector<std::optional<double>>& list) {
  Json result = Json::array();
  for (const auto& value : list) result.push_back(value ? Json(*value) : Json(nullptr));
  return result;
}

/// All p weights after each step.
Json weights_json(const PathResult& path, std::size_t features) {
  Json result = Json::array();
  for (Index step = 1; step <= path.steps(); ++step) {
    std::vector<double> all(features, 0.0);
    const Vector w = path.weights_after(step);
    for (Index k = 0; k < w.size(); ++k) all[at(path.support[at(k)])] = w[k];
    result.push_back(std::move(all));
  }
  return result;
}

}  // namespace ecotone::cli
