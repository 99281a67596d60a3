#include "ecotone/reproduce/kinds/labels.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/label/simulate.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/reproduce/recipe_data.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

struct LabelsColumn {
  std::string name;
  GeneratedData data;
  Index budget = 0;
};

struct LabelsRow {
  std::string name;
  std::string strategy;  ///< its text; empty: the accuracy with all labels
  bool failed = false;   ///< the value is the share of runs that fail
  std::string minus;
  double times = 1;
};

struct LabelsRecipe {
  std::string pipeline;
  SimulateOptions simulate;
  std::vector<LabelsColumn> columns;
  std::vector<LabelsRow> rows;

  const LabelsRow* row(const std::string& name) const {
    const auto found = std::ranges::find(rows, name, &LabelsRow::name);
    return found == rows.end() ? nullptr : &*found;
  }
  /// Each strategy once.
  std::vector<Strategy> strategies() const {
    std::vector<Strategy> all;
    std::vector<std::string> texts;
    for (const LabelsRow& one : rows) {
      if (one.strategy.empty() || std::ranges::count(texts, one.strategy) > 0) continue;
      texts.push_back(one.strategy);
      all.push_back(Strategy::parse(one.strategy));
    }
    return all;
  }
};

LabelsRow read_labels_row(const Json& json, const std::string& where) {
  JsonFields fields(json, where + ", a row");
  LabelsRow row;
  row.name = fields.text("row");
  if (fields.has("full") && fields.flag("full")) {
    fields.finish();
    return row;
  }
  row.strategy = Strategy::parse(fields.text("strategy")).text();
  if (fields.has("failed")) row.failed = fields.flag("failed");
  row.minus = fields.text("minus", "");
  if (fields.has("times")) row.times = fields.number("times");
  fields.finish();
  return row;
}

LabelsRecipe read_labels_recipe(const ExperimentItem& item, const std::string& where) {
  JsonFields fields(item.recipe, where);
  LabelsRecipe recipe;
  recipe.pipeline = fields.text("pipeline");
  recipe.simulate.repeat = fields.whole("runs", 1, 100'000);
  recipe.simulate.reach = fields.number("reach");
  recipe.simulate.test_share = fields.number("test_share");
  recipe.simulate.audit = 0;
  for (const Json& json : fields.list("columns")) {
    JsonFields column(json, where + ", a column");
    recipe.columns.push_back(
        {column.text("column"), GeneratedData::read(column), column.whole("budget", 10, 1'000'000)});
    column.finish();
  }
  for (const Json& json : fields.list("rows")) {
    recipe.rows.push_back(read_labels_row(json, where));
    if (std::ranges::count(recipe.rows, recipe.rows.back().name, &LabelsRow::name) > 1)
      file_error("bad_experiment", "{}: two rows are called '{}'", where, recipe.rows.back().name);
  }
  fields.finish();
  for (const LabelsRow& row : recipe.rows) {
    if (row.minus.empty()) continue;
    const LabelsRow* other = recipe.row(row.minus);
    if (other == nullptr || other->strategy.empty() || !other->minus.empty())
      file_error("bad_experiment", "{}: row '{}' is compared with '{}', which is not the row of a strategy", where,
                 row.name, row.minus);
  }
  return recipe;
}

std::vector<CellName> check_labels(const ExperimentItem& item, const std::string& where) {
  std::vector<CellName> cells;
  try {
    const LabelsRecipe recipe = read_labels_recipe(item, where);
    if (const Pipeline pipeline = Pipeline::parse(recipe.pipeline); !pipeline.predicts())
      option_error("no_learner", "\"{}\" does not end in a learner", pipeline.text());
    for (const LabelsColumn& column : recipe.columns) {
      column.data.check();
      for (const LabelsRow& row : recipe.rows) cells.emplace_back(row.name, column.name);
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::file) throw;
    file_error("bad_experiment", "{}: {}", where, error.what());
  }
  return cells;
}

LabelSimulation simulated(const LabelsRecipe& recipe, const LabelsColumn& column, const Context& context) {
  SimulateOptions options = recipe.simulate;
  options.budget = column.budget;
  return simulate_labelling(column.data.draw(context), Pipeline::parse(recipe.pipeline), recipe.strategies(), options,
                            context);
}

const StrategyCurve& curve_of(const LabelSimulation& simulation, const std::string& strategy) {
  const auto found = std::ranges::find(simulation.curves, strategy, &StrategyCurve::strategy);
  if (found == simulation.curves.end()) internal_error("no curve of '{}'", strategy);
  return *found;
}

/// The median number of labels; runs that fail count as the budget.
double labels_needed(const LabelSimulation& simulation, const std::string& strategy) {
  std::vector<double> labels;
  for (const std::optional<Index>& reached : curve_of(simulation, strategy).reached)
    labels.push_back(static_cast<double>(reached.value_or(simulation.options.budget)));
  std::ranges::sort(labels);
  return sorted_quantile(labels, 0.5);
}

double labels_value(const LabelsRecipe& recipe, const LabelsRow& row, const LabelSimulation& simulation) {
  if (row.strategy.empty()) return 100 * simulation.full;
  if (row.failed) {
    const std::vector<std::optional<Index>>& reached = curve_of(simulation, row.strategy).reached;
    const auto failed = std::ranges::count_if(reached, [](const auto& labels) { return !labels.has_value(); });
    return 100.0 * static_cast<double>(failed) / static_cast<double>(reached.size());
  }
  const double needed = labels_needed(simulation, row.strategy);
  if (row.minus.empty()) return needed;
  return needed - row.times * labels_needed(simulation, recipe.row(row.minus)->strategy);
}

std::vector<Cell> run_labels(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const LabelsRecipe recipe = read_labels_recipe(item, item.name);
  std::vector<RepeatedPart> parts;
  for (const LabelsColumn& column : recipe.columns) parts.push_back({column.name});
  const auto run = [&](std::size_t c, const Context& own) {
    const LabelSimulation simulation = simulated(recipe, recipe.columns[c], own);
    std::vector<double> values;
    for (const LabelsRow& row : recipe.rows) values.push_back(labels_value(recipe, row, simulation));
    return values;
  };
  const auto all = run_repetitions<std::vector<double>>(item, parts, options, 0, context, run);
  std::vector<Cell> cells;
  for (std::size_t c = 0; c < parts.size(); ++c) {
    std::vector<CellName> names;
    for (const LabelsRow& row : recipe.rows) names.emplace_back(row.name, parts[c].name);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(c) * options.repetitions;
    std::ranges::move(cells_of(names, {first, first + options.repetitions}), std::back_inserter(cells));
  }
  return cells;
}

LineChart learning_curves(const LabelsRecipe& recipe, const LabelsColumn& column, const LabelSimulation& simulation) {
  LineChart chart{.name = "curves_" + column.name,
                  .title = fmt::format("{}: accuracy by labels, mean of {} runs", column.name, recipe.simulate.repeat),
                  .x_title = "labels",
                  .y_title = "accuracy",
                  .lines = {}};
  chart.logarithmic = false;
  chart.level = recipe.simulate.reach * simulation.full;
  double lowest = 1;
  for (const StrategyCurve& curve : simulation.curves) {
    LineChart::Line line{curve.strategy, {}, curve.strategy == "random"};
    for (const CurvePoint& point : curve.points) {
      line.values.push_back(point.mean);
      lowest = std::min(lowest, point.mean);
      if (line.values.size() > chart.x.size()) chart.x.push_back(static_cast<double>(point.labels));
    }
    chart.lines.push_back(std::move(line));
  }
  chart.bottom = std::floor(10 * lowest) / 10;
  return chart;
}

Figures draw_labels(const ExperimentItem& item, const std::vector<Cell>&, const ReproduceOptions&,
                    const Context& context) {
  const LabelsRecipe recipe = read_labels_recipe(item, item.name);
  Figures figures;
  figures.charts.resize(recipe.columns.size());
  context.parallel(std::ssize(recipe.columns), [&](Index c) {
    const LabelsColumn& column = recipe.columns[at(c)];
    figures.charts[at(c)] =
        learning_curves(recipe, column, simulated(recipe, column, repetition_context(column.name, 0, context)));
  });
  return figures;
}

}  // namespace

ExperimentKind labels_kind() {
  return {.name = "labels",
          .reads_data = false,
          .matrix = false,
          .check = check_labels,
          .run = run_labels,
          .draw = draw_labels};
}

}  // namespace ecotone
