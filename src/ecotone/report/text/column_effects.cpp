#include "ecotone/evaluate/columns/column_effects.h"

#include <fmt/format.h>

#include <algorithm>

#include "ecotone/measure/metrics.h"
#include "ecotone/report/text/domain_table.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {
namespace {

constexpr std::size_t most_remarks = 10;  // of one kind

/// How far the curves of a column go, the farthest of its scores.
double farthest_curve(const std::vector<std::vector<double>>& curves) {
  double farthest = 0;
  for (const std::vector<double>& curve : curves) farthest = std::max(farthest, swing(curve));
  return farthest;
}

DomainTable effects_table(const ColumnEffects& effects, std::size_t top) {
  const bool labelled = !effects.metric.empty();
  DomainTable table;
  if (labelled) table.before = {"mean"};
  for (const EffectDomain& domain : effects.domains) table.domains.push_back(domain.domain);
  table.after = {"curve"};
  for (std::size_t c = 0; c < std::min(top, effects.columns.size()); ++c) {
    const ColumnEffect& effect = effects.columns[c];
    DomainTable::Line line{effect.column, {}, {}, {fmt::format("{:.4g}", farthest_curve(effect.pooled))}};
    if (labelled) line.before = {loss_text(effect.mean)};
    for (std::size_t d = 0; d < effects.domains.size(); ++d)
      line.domains.push_back(labelled ? loss_text(effect.importance[d].mean)
                                      : fmt::format("{:.4g}", farthest_curve(effect.curves[d])));
    table.lines.push_back(std::move(line));
  }
  return table;
}

/// The first of many remarks, each on a line of its own.
std::string remarks_text(const std::vector<std::string>& remarks) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most_remarks, remarks.size()); ++i)
    text += wrapped(remarks[i], page_width, "  ");
  if (remarks.size() > most_remarks)
    text += fmt::format("  and {} more, which --json lists\n", remarks.size() - most_remarks);
  return text;
}

std::string hurting_text(const ColumnEffects& effects) {
  std::vector<std::string> remarks;
  for (const ColumnEffect& effect : effects.columns)
    for (std::size_t d = 0; d < effect.importance.size(); ++d)
      if (effect.importance[d].hurts(effects.repeats))
        remarks.push_back(fmt::format("{} in {}: {}", one_line(effect.column), one_line(effects.domains[d].domain),
                                      loss_text(effect.importance[d].mean)));
  return remarks.empty()
             ? ""
             : "\nthe model does better in a domain when a column is shuffled there\n" + remarks_text(remarks);
}

std::string opposite_text(const ColumnEffects& effects) {
  const auto opposite = opposite_curves(effects);
  std::vector<std::string> remarks;
  for (std::size_t c = 0; c < opposite.size(); ++c) {
    if (!opposite[c]) continue;
    const ColumnEffect& effect = effects.columns[c];
    const auto gain = [&](std::size_t domain) {
      const std::vector<double>& curve = effect.curves[domain][opposite[c]->score];
      return effect.kind == ColumnKind::categorical ? "" : fmt::format(" ({:+.3g})", curve.back() - curve.front());
    };
    remarks.push_back(fmt::format(
        "{}: {}{} and {}{}{}", one_line(effect.column), one_line(effects.domains[opposite[c]->one].domain),
        gain(opposite[c]->one), one_line(effects.domains[opposite[c]->other].domain), gain(opposite[c]->other),
        effects.scores.size() > 1 ? fmt::format(", score of {}", one_line(effects.scores[opposite[c]->score])) : ""));
  }
  if (remarks.empty()) return "";
  return "\nthe curves of a column go opposite ways in two domains (from its lowest value to its highest)\n" +
         remarks_text(remarks);
}

}  // namespace

std::string column_effects_text(const ColumnEffects& effects, std::size_t top) {
  Index rows = 0;
  for (const EffectDomain& domain : effects.domains) rows += domain.rows;
  std::string text = fmt::format("pipeline  {}\non        {} in {}\n", effects.pipeline, counted(rows, "row"),
                                 counted(static_cast<Index>(effects.domains.size()), "domain"));
  if (effects.metric.empty()) {
    text += "\nno row has a label, so importance is not measured: how far the curve of a column goes in each domain\n";
  } else {
    const MetricInfo& metric = *find_metric(effects.metric);
    text += fmt::format("\n{} of {} when a column is shuffled among the rows of a domain, mean of {}\n",
                        metric.higher_is_better() ? "fall" : "rise", metric.title, counted(effects.repeats, "shuffle"));
  }
  text += fmt::format("\n{}", effects_table(effects, top).text());
  if (effects.columns.size() > top)
    text += fmt::format("({} more columns; --top shows more, --json has all)\n", effects.columns.size() - top);
  text += "curve: how far the mean score of all rows goes over the column's values\n";
  return text + hurting_text(effects) + opposite_text(effects);
}

}  // namespace ecotone
