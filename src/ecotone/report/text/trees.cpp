#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/methods/learn/trees/tree_arrays.h"
#include "ecotone/report/model_trees.h"
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

constexpr std::size_t gains_shown = 12;
constexpr const char* before = " (before the refit)";

/// The domains in which the splits of a column raised the loss.
std::vector<std::string> hurt_domains(const Json& stage, std::size_t column) {
  std::vector<std::string> hurt;
  if (!stage.contains("importance_domain")) return hurt;
  for (std::size_t e = 0; e < stage["importance_domain"].size(); ++e)
    if (stage["importance_domain"][e][column].get<double>() < 0)
      hurt.push_back(one_line(stage["domains"][e].get<std::string>()));
  return hurt;
}

std::string gains_text(const Json& stage, const std::vector<std::string>& names, bool refitted) {
  const std::vector<double> gain = stage["importance"];
  const double total = std::accumulate(gain.begin(), gain.end(), 0.0);
  std::vector<std::size_t> order(gain.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return gain[a] > gain[b]; });
  std::string text = fmt::format("  gain of the splits of each column, largest first{}\n", refitted ? before : "");
  std::size_t width = 0, shown = 0;
  for (const std::size_t j : order)
    if (shown++ < gains_shown) width = std::max(width, names[j].size());
  shown = 0;
  for (const std::size_t j : order) {
    if (!(gain[j] > 0) || shown++ == gains_shown) break;
    text += fmt::format("    {:<{}} {:>5.1f} %", names[j], width, 100 * gain[j] / total);
    if (const auto hurt = hurt_domains(stage, j); !hurt.empty())
      text += fmt::format("  raised the loss in {}", fmt::join(hurt, ", "));
    text += "\n";
  }
  const auto used = std::ranges::count_if(gain, [](double g) { return g > 0; });
  if (used > static_cast<std::ptrdiff_t>(gains_shown)) text += fmt::format("    and {} more\n", used - gains_shown);
  return text;
}

/// "4 leaves: 0.5500 after 127 rounds".
std::string choice_text(const Json& stage) {
  std::vector<std::string> parts;
  for (std::size_t s = 0; s < stage["stop_loss"].size(); ++s) {
    const std::vector<double> loss = stage["stop_loss"][s];
    const auto least = std::min_element(loss.begin(), loss.end());
    parts.push_back(fmt::format("{} leaves: {:.4g} after {} rounds", stage["stop"]["tried"][s].get<int>(), *least,
                                least - loss.begin() + 1));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// What leaves are added to, and what the sum is.
std::string scores_text(const ModelTrees& found) {
  if (found.loss.empty()) return "forest: the answer is the mean of the leaves\n";
  std::vector<std::string> starts;
  for (Index k = 0; k < found.start.size(); ++k) {
    const std::string* name = found.class_of(at(k));
    starts.push_back(fmt::format("{:.6g}{}", found.start[k], name ? fmt::format(" ({})", one_line(*name)) : ""));
  }
  return fmt::format("loss {}, start {}\n", found.loss, fmt::join(starts, ", "));
}

}  // namespace

std::string tree_stage_text(const Json& stage, const std::vector<std::string>& names, bool refitted) {
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<9} {}\n", name, value);
  };
  if (stage.contains("loss")) line("loss", stage["loss"]);
  line("trees", fmt::format("{}", stage["tree_first"].size() - 1));
  if (stage.contains("stop") && !stage["stop"]["left_out"].get<std::string>().empty())
    line("left out", fmt::format("{}, {} folds; loss there: {}{}", stage["stop"]["left_out"].get<std::string>(),
                                 stage["stop"]["folds"].get<Index>(), choice_text(stage), refitted ? before : ""));
  line("status", stage["status"]);
  if (names.size() == stage["importance"].size()) text += gains_text(stage, names, refitted);
  return text;
}

std::string model_trees_text(const Model& model, const Context& context) {
  const ModelTrees found = model_trees(model, context);
  std::string text = scores_text(found);
  for (std::size_t t = 0; t < found.arrays.trees.size(); ++t) {
    text += fmt::format("tree {}", t + 1);
    if (const std::string* name = found.class_of(t)) {
      if (!found.loss.empty()) text += fmt::format(", round {}", found.round_of(t));
      text += fmt::format(", class {}", one_line(*name));
    }
    text += "\n" + tree_text(found.arrays.trees[t], found.arrays.columns, found.names, found.levels);
  }
  return text;
}

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
