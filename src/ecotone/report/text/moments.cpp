#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"
#include "ecotone/solve/moments/moments_file.h"

namespace ecotone {
namespace {

constexpr std::size_t names_shown = 12;

bool has_weights(const Moments& moments) { return moments.rows != moments.weight; }

std::string features_text(const std::vector<std::string>& names) {
  std::vector<std::string> first;
  for (std::size_t j = 0; j < std::min(names.size(), names_shown); ++j) first.push_back(one_line(names[j]));
  return fmt::format("{}: {}{}", names.size(), fmt::join(first, ", "), names.size() > names_shown ? ", ..." : "");
}

std::string labels_text(const std::vector<std::string>& classes) {
  if (classes.empty()) return "numeric (regression)";
  return fmt::format("-1 is {}, +1 is {}", one_line(classes.front()), one_line(classes.back()));
}

const char* gram_text(GramKind kind) {
  switch (kind) {
    case GramKind::none:
      return "none; select needs the rows";
    case GramKind::double_precision:
      return "double precision";
    case GramKind::single_precision:
      return "single precision";
  }
  return "";
}

/// Rows, weight where rows have one, and the mean label of every domain.
std::string domains_text(const Moments& moments) {
  const bool weighted = has_weights(moments);
  TextTable table{{{"domain", true}, {"rows"}}, {}};
  if (weighted) table.columns.push_back({"weight"});
  table.columns.push_back({"mean label"});
  for (std::size_t g = 0; g < moments.groups.size(); ++g) {
    const auto i = static_cast<Index>(g);
    std::vector<std::string> line = {one_line(moments.groups[g]), fmt::format("{:.0f}", moments.rows[i])};
    if (weighted) line.push_back(fmt::format("{:.6g}", moments.weight[i]));
    const bool defined = moments.labelled[g] != 0 && moments.weight[i] > 0;
    line.push_back(defined ? fmt::format("{:.4g}", moments.y1[i] / moments.weight[i]) : "no labels");
    table.lines.push_back(std::move(line));
  }
  return table.text();
}

}  // namespace

std::string moments_text(const Moments& moments) {
  return fmt::format("moments   {} in {}\nfeatures  {}\nlabels    {}\ngram      {}\n\n{}",
                     counted(static_cast<Index>(moments.rows.sum()), "row"), counted(moments.group_count(), "domain"),
                     features_text(moments.features), labels_text(moments.classes), gram_text(moments.gram_kind()),
                     domains_text(moments));
}

}  // namespace ecotone
