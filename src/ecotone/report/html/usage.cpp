#include <fmt/format.h>

#include "ecotone/measure/metrics.h"
#include "ecotone/report/html/charts/strip_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr std::size_t most_used = 12;  // columns with a strip

StripRow usage_row(const ColumnImportance& column, const std::vector<std::string>& splits) {
  StripRow row{.tag = {}, .name = column.column, .figure = signed_number(column.mean)};
  row.mean = column.mean;
  if (column.mean && column.spread) row.band = {*column.mean - *column.spread, *column.mean + *column.spread};
  for (std::size_t s = 0; s < column.splits.size(); ++s)
    if (column.splits[s])
      row.dots.push_back({.value = *column.splits[s],
                          .name = splits[s],
                          .note = fmt::format("{}: {}", splits[s], signed_number(column.splits[s]))});
  return row;
}

}  // namespace

Panel usage_panel(const Results& results, const Evaluation& evaluation) {
  const auto best = results.best(results.headline);
  if (!best || !evaluation.pipelines[*best].importance) return {};
  const Importances& importance = *evaluation.pipelines[*best].importance;
  const MetricInfo& metric = *find_metric(importance.metric);
  StripChart chart{.description = fmt::format("How much {} is lost when a column is shuffled.", metric.title),
                   .axis_title = fmt::format("{} of {}", metric.higher_is_better() ? "loss" : "increase", metric.title),
                   .rows = {},
                   .line = 0.0};
  std::vector<std::vector<std::string>> table = {{"column", "held_out", "importance"}};
  for (const ColumnImportance& column : importance.columns) {
    if (chart.rows.size() < most_used && column.mean) {
      chart.rows.push_back(usage_row(column, importance.splits));
      chart.description += fmt::format(" {}: {}.", column.column, signed_number(column.mean));
    }
    for (std::size_t s = 0; s < column.splits.size(); ++s)
      table.push_back({column.column, importance.splits[s], column.splits[s] ? plain_number(*column.splits[s]) : ""});
  }
  if (chart.rows.empty()) return {};
  const PipelineResult& pipeline = results.pipelines[*best];
  const bool by_domain = results.protocol == "leave-one-domain-out" || results.protocol == "adapt";
  const std::string what = by_domain ? results.unit : "split";
  std::string note = fmt::format(
      "<p class=\"note\">{} <code>{}</code>: by how much {} gets worse on held-out rows when the values of one column "
      "are "
      "shuffled among them, the mean of five shuffles. A dot is one held-out {}; the wider they spread, the less the "
      "column means the same everywhere.",
      badge(pipeline), escape(pipeline.pipeline), metric.title, what);
  if (importance.columns.size() > chart.rows.size())
    note += fmt::format(" The {} most important of {} columns; the data below have all.", chart.rows.size(),
                        importance.columns.size());
  if (importance.further_columns > 0)
    note += fmt::format(" {} further columns of the table were not looked at.", importance.further_columns);
  return {"usage", "What the model uses",
          note + "</p>\n" +
              figure({.name = "importance",
                      .caption = {},
                      .wide = strip_chart(chart, wide_picture),
                      .narrow = strip_chart(chart, narrow_picture),
                      .table = std::move(table)})};
}

}  // namespace ecotone::report
