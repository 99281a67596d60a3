#include "ecotone/evaluate/columns/importance.h"

#include <algorithm>
#include <cmath>

#include "ecotone/evaluate/columns/shuffled_column.h"
#include "ecotone/measure/intervals.h"

namespace ecotone {
namespace {

constexpr Index most_features = 20'000;
constexpr Index most_values = 10'000'000;  // of the rows that are shuffled
constexpr std::size_t most_columns = 60;
constexpr int shuffles = 5;  // of every column

/// The metric that stands for a result, see headline_metric.
std::string_view importance_metric(const Labels& y) { return y.task == Task::regress ? "rmse" : "auroc"; }

}  // namespace

std::vector<double> column_importance(const Model& model, const Dataset& data, const Split& split, Index most_rows,
                                      const Context& context) {
  const Labels& y = *data.y;
  if (data.x.cols() > most_features) return {};
  std::vector<Index> rows;
  std::ranges::copy_if(split.held_out, std::back_inserter(rows), [&](Index row) { return !y.missing(row); });
  rows = spread_over(rows, std::min(most_rows, most_values / std::max<Index>(1, data.x.cols())));
  if (rows.size() < 2) return {};
  const ScoredSample sample = scored_sample(model, data, rows);
  const std::string_view metric = importance_metric(y);
  const std::optional<double> whole = sample_metric(metric, model.predict(sample.rows, context), sample);
  std::vector<double> importance;
  for (const ColumnPlace& place : column_places(data)) {
    if (importance.size() == most_columns) break;
    const Random random = context.random("importance", importance.size());
    const std::vector<double> losses = shuffle_losses(model, sample, place, metric, whole, shuffles, random, context);
    importance.push_back(*mean_of(losses));
  }
  return importance;
}

Importances importances_of(const Dataset& data, const std::vector<Split>& splits,
                           const std::vector<std::vector<double>>& of_split) {
  Importances result;
  result.metric = importance_metric(*data.y);
  result.further_columns = std::max<Index>(0, std::ssize(data.table_columns()) - static_cast<Index>(most_columns));
  for (const Split& split : splits) result.splits.push_back(split.name);
  const std::vector<Column> columns = data.table_columns();
  for (std::size_t c = 0; c < std::min(columns.size(), most_columns); ++c) {
    ColumnImportance column{columns[c].name, {}, {}, {}};
    std::vector<double> known;
    for (const std::vector<double>& values : of_split) {
      const bool defined = c < values.size() && std::isfinite(values[c]);
      column.splits.push_back(defined ? std::optional(values[c]) : std::nullopt);
      if (defined) known.push_back(values[c]);
    }
    column.mean = mean_of(known);
    column.spread = sample_sd(known);
    result.columns.push_back(std::move(column));
  }
  std::ranges::stable_sort(result.columns, std::ranges::greater{},
                           [](const ColumnImportance& column) { return column.mean.value_or(-INFINITY); });
  return result;
}

}  // namespace ecotone
