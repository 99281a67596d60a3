#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/solve/trees/tree.h"

namespace ecotone {

namespace {

constexpr std::size_t tree_indent = 2;

/// The level of a category; its number where it has no text.
std::string level_text(double code, const std::vector<std::string>& texts) {
  const bool known = code >= 0 && code < static_cast<double>(texts.size()) && code == std::floor(code);
  return known ? one_line(texts[static_cast<std::size_t>(code)]) : fmt::format("{}", code);
}

std::string condition_text(const TreeNode& node, const TreeColumn& column, const std::string& name,
                           const std::vector<std::string>& texts) {
  if (node.categorical) {
    std::vector<std::string> left;
    for (int code = 0; code < column.bins(); ++code)
      if (has_level(node.levels, code)) left.push_back(level_text(column.level[at(code)], texts));
    return fmt::format("{} is {}", one_line(name), fmt::join(left, ", "));
  }
  if (std::isinf(node.threshold) && node.threshold > 0 && !node.missing_left)
    return fmt::format("{} is not missing", one_line(name));
  return fmt::format("{} <= {} (missing {})", one_line(name), node.threshold, node.missing_left ? "left" : "right");
}

}  // namespace

std::string tree_text(const DecisionTree& tree, const std::vector<TreeColumn>& columns,
                      const std::vector<std::string>& names, const std::vector<std::vector<std::string>>& levels) {
  struct Place {
    std::int32_t number;  // of a node, or -(leaf + 1)
    std::size_t depth;
  };
  std::string text;
  std::vector<Place> open{{tree.nodes.empty() ? -1 : 0, 0}};
  while (!open.empty()) {
    const auto [number, depth] = open.back();
    open.pop_back();
    text.append(depth * tree_indent, ' ');
    if (number < 0) {
      const std::size_t leaf = at(-number - 1);
      text += fmt::format("{:.6g} ({})\n", tree.value[leaf], counted(static_cast<Index>(tree.cover[leaf]), "row"));
      continue;
    }
    const TreeNode& node = tree.nodes[at(number)];
    const std::size_t j = at(node.feature);
    text += fmt::format("{}, gain {:.4g}\n", condition_text(node, columns[j], names[j], levels[j]), node.gain);
    open.push_back({node.right, depth + 1});
    open.push_back({node.left, depth + 1});
  }
  return text;
}

}  // namespace ecotone
