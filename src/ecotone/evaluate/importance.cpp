#include "ecotone/evaluate/importance.h"

#include <algorithm>
#include <cmath>

#include "ecotone/evaluate/score.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {
namespace {

constexpr Index most_features = 20'000;
constexpr Index most_values = 10'000'000;  // of the rows that are shuffled
constexpr std::size_t most_columns = 60;

std::string_view importance_metric(const Labels& y) {
  return y.task == Task::regress ? "rmse" : y.classes.size() == 2 ? "auroc" : "accuracy";
}

/// The metric of a model's answers for the rows of a split; larger is better.
double goodness(const Prediction& prediction, const Model& model, const Labels& y, const Split& split) {
  const Outcome outcome = outcome_of(prediction, model.classes(), y, split);
  const Labels truth = y.take(split.held_out);
  if (y.task == Task::regress) return -rmse(truth.value, outcome.value);
  if (y.classes.size() == 2) return auroc(truth.index, outcome.probability).value_or(std::nan(""));
  return accuracy(truth.index, outcome.predicted);
}

}  // namespace

std::vector<double> column_importance(const Model& model, const Dataset& data, const Split& split, Index most_rows,
                                      const Context& context) {
  const Labels& y = *data.y;
  if (data.x.cols() > most_features) return {};
  Split looked_at{split.repetition, split.name, {}, {}, {}};
  std::ranges::copy_if(split.held_out, std::back_inserter(looked_at.held_out),
                       [&](Index row) { return !y.missing(row); });
  looked_at.held_out =
      spread_over(looked_at.held_out, std::min(most_rows, most_values / std::max<Index>(1, data.x.cols())));
  if (looked_at.held_out.size() < 2) return {};
  const Batch rows = batch(data, looked_at.held_out);
  const Matrix x = rows.x.to_matrix();
  const double whole = goodness(model.predict(rows, context), model, y, looked_at);
  std::vector<double> importance;
  Index first = 0;
  for (const Column& column : data.table_columns()) {
    if (importance.size() == most_columns) break;
    const auto width = static_cast<Index>(column.width());
    Matrix shuffled = x;
    Random random = context.random("importance", importance.size());
    const std::vector<Index> order = random.permutation(x.rows());
    for (Index i = 0; i < x.rows(); ++i)
      shuffled.row(i).segment(first, width) = x.row(order[at(i)]).segment(first, width);
    const Batch changed{Features::dense(std::move(shuffled), rows.x.names()), rows.domain, rows.origin};
    importance.push_back(whole - goodness(model.predict(changed, context), model, y, looked_at));
    first += width;
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
