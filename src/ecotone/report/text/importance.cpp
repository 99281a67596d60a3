#include "ecotone/evaluate/columns/importance.h"

#include <fmt/format.h>

#include <algorithm>

#include "ecotone/evaluate/evaluate.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/text/domain_table.h"
#include "ecotone/report/text/text.h"

namespace ecotone {

std::string importance_table(const Evaluation& evaluation, std::size_t top) {
  const auto best = best_pipeline(evaluation);
  if (!best || !evaluation.pipelines[*best].importance) return "";
  const Importances& importance = *evaluation.pipelines[*best].importance;
  const MetricInfo& metric = *find_metric(importance.metric);
  DomainTable table;
  table.before = {"mean", "spread"};
  table.domains = importance.splits;
  table.unit = "split";
  for (std::size_t c = 0; c < std::min(top, importance.columns.size()); ++c) {
    const ColumnImportance& column = importance.columns[c];
    table.lines.push_back(
        {column.column, {loss_text(column.mean), column.spread ? fmt::format("{:.4f}", *column.spread) : "-"}, {}, {}});
    for (const auto& value : column.splits) table.lines.back().domains.push_back(loss_text(value));
  }
  std::string text = fmt::format("\n{} of {} when a column is shuffled among held-out rows, {}\n\n{}",
                                 metric.higher_is_better() ? "fall" : "rise", metric.title,
                                 evaluation.pipelines[*best].pipeline, table.text());
  const Index further = std::ssize(importance.columns) - std::ssize(table.lines) + importance.further_columns;
  if (further > 0) text += fmt::format("({} more columns; --json has the first 60)\n", further);
  return text;
}

}  // namespace ecotone
