#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/reproduce/kinds/logistic_examples.h"
#include "ecotone/reproduce/kinds/query_walk.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

constexpr const char* all_labels = "all labels";

struct QueriesRecipe {
  QueryProblem problem;
  int queries = 0;
  std::vector<int> watched;  ///< epochs whose risk is shown
  std::vector<int> passes;   ///< over the seed
  std::vector<Strategy> strategies;

  std::string column(std::size_t i) const {
    return fmt::format("{} {} over the seed", passes[i], passes[i] == 1 ? "pass" : "passes");
  }
};

QueriesRecipe read_queries_recipe(const ExperimentItem& item, const std::string& where) {
  JsonFields fields(item.recipe, where);
  QueriesRecipe recipe;
  QueryProblem& problem = recipe.problem;
  problem.rows = fields.whole("rows", 10, 1'000'000);
  problem.features = fields.whole("features", 1, 1000);
  problem.step = fields.positive("step");
  problem.l2 = fields.positive("l2");
  if (fields.has("epochs")) {
    problem.epochs = fields.whole("epochs", 1, 100'000);
    recipe.watched = fields.wholes("watched", 1, problem.epochs);
  }
  problem.seed = fields.whole("seed", 1, static_cast<int>(problem.rows - 1));
  recipe.passes = fields.wholes("passes", 1, 100'000);
  const auto left = static_cast<int>(problem.rows - problem.seed);
  recipe.queries = fields.whole("queries", 1, left);
  problem.subset = fields.whole("subset", 1, left - recipe.queries + 1);
  try {
    for (const std::string& text : fields.texts("strategies")) recipe.strategies.push_back(Strategy::parse(text));
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::file) throw;
    file_error("bad_experiment", "{}: {}", where, error.what());
  }
  for (const Strategy& strategy : recipe.strategies)
    if (strategy.options.explore > 0 && strategy.rule != QueryRule::random)
      file_error("bad_experiment", "{}: strategy \"{}\" must have explore=0", where, strategy.text());
  fields.finish();
  return recipe;
}

std::string strategy_name(const Strategy& strategy) {
  return std::string(strategy_infos()[static_cast<std::size_t>(strategy.rule)].name);
}

/// In the order of queries_values.
std::vector<CellName> check_queries(const ExperimentItem& item, const std::string& where) {
  const QueriesRecipe recipe = read_queries_recipe(item, where);
  std::vector<CellName> cells;
  if (recipe.problem.epochs > 0) {
    cells.emplace_back("cosine to w^a", all_labels);
    cells.emplace_back("norm relative to w^a", all_labels);
    for (const int epoch : recipe.watched)
      cells.emplace_back(fmt::format("ln of the normalised risk after {} epochs", epoch), all_labels);
  }
  for (std::size_t p = 0; p < recipe.passes.size(); ++p) {
    cells.emplace_back("cosine after the seed", recipe.column(p));
    for (const Strategy& strategy : recipe.strategies)
      cells.emplace_back(fmt::format("cosine after {} queries: {}", recipe.queries, strategy_name(strategy)),
                         recipe.column(p));
    for (std::size_t s = 1; s < recipe.strategies.size(); ++s)
      cells.emplace_back(fmt::format("same row as {}, %: {}", strategy_name(recipe.strategies[0]),
                                     strategy_name(recipe.strategies[s])),
                         recipe.column(p));
  }
  return cells;
}

/// The values of the cells on one draw, and what the pictures show.
struct QueriesResult {
  std::vector<double> values;
  std::vector<double> excess;  ///< of the learning curve
  Vector truth, estimate;      ///< of the first number of passes and the first strategy
};

template <class Archive>
void archive(Archive& with, QueriesResult& result) {
  with(result.values, result.excess, result.truth, result.estimate);
}

void add_walks(QueriesResult& result, const QueriesRecipe& recipe, const LogisticDraw& draw, int passes,
               const Context& context) {
  std::vector<double> cosines, same(recipe.strategies.size(), 0.0);
  result.values.push_back(QueryWalk(recipe.problem, draw, passes, context).cosine_to_truth());
  for (std::size_t s = 0; s < recipe.strategies.size(); ++s) {
    QueryWalk walk(recipe.problem, draw, passes, context);
    for (int query = 0; query < recipe.queries; ++query) {
      const std::vector<Index> candidates = walk.candidates();
      const Index chosen = walk.choice(recipe.strategies[s], candidates);
      for (std::size_t other = 1; s == 0 && other < recipe.strategies.size(); ++other)
        same[other] += walk.choice(recipe.strategies[other], candidates) == chosen;
      walk.learn(chosen);
    }
    cosines.push_back(walk.cosine_to_truth());
    if (s == 0 && result.estimate.size() == 0) result.estimate = walk.weights();
  }
  result.values.insert(result.values.end(), cosines.begin(), cosines.end());
  for (std::size_t s = 1; s < same.size(); ++s) result.values.push_back(100 * same[s] / recipe.queries);
}

QueriesResult queries_result(const QueriesRecipe& recipe, const Context& context) {
  const LogisticDraw draw = draw_logistic_rows(recipe.problem, context);
  QueriesResult result;
  result.truth = draw.truth;
  if (recipe.problem.epochs > 0) {
    const LearningCurve curve = learning_curve(recipe.problem, draw, context);
    result.values = {cosine(curve.optimum, draw.truth), curve.optimum.norm() / draw.truth.norm()};
    for (const int epoch : recipe.watched) result.values.push_back(std::log(curve.excess[at(epoch)]));
    result.excess = curve.excess;
  }
  for (const int passes : recipe.passes) add_walks(result, recipe, draw, passes, context);
  return result;
}

std::vector<QueriesResult> all_queries(const ExperimentItem& item, const ReproduceOptions& options,
                                       const Context& context) {
  const QueriesRecipe recipe = read_queries_recipe(item, item.name);
  const auto run = [&](std::size_t, const Context& own) { return queries_result(recipe, own); };
  return run_repetitions<QueriesResult>(item, {{"queries"}}, options, 0, context, run);
}

std::vector<Cell> run_queries(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  std::vector<std::vector<double>> values;
  for (const QueriesResult& result : all_queries(item, options, context)) values.push_back(result.values);
  return cells_of(check_queries(item, item.name), values);
}

/// ln of the normalised excess risk of each epoch.
LineChart learning_chart(std::string name, std::string title, const std::vector<double>& excess) {
  LineChart chart{.name = std::move(name),
                  .title = std::move(title),
                  .x_title = "epoch",
                  .y_title = "ln of the normalised risk",
                  .lines = {{"risk above its minimum", {}}}};
  chart.logarithmic = false;
  for (std::size_t epoch = 0; epoch < excess.size(); ++epoch) {
    chart.x.push_back(static_cast<double>(epoch));
    chart.lines[0].values.push_back(std::log(excess[epoch]));
    chart.bottom = std::min(chart.bottom, std::floor(chart.lines[0].values.back()));
  }
  return chart;
}

/// The cosines after the queries by strategy, with their spread over repetitions.
DotChart cosine_chart(const QueriesRecipe& recipe, const std::vector<Cell>& cells) {
  DotChart chart{.name = "cosines",
                 .title = fmt::format("Cosine to the model after {} queries", recipe.queries),
                 .y_title = "cosine",
                 .categories = {},
                 .series = {}};
  for (const Strategy& strategy : recipe.strategies) chart.categories.push_back(strategy_name(strategy));
  for (std::size_t p = 0; p < recipe.passes.size(); ++p) {
    DotChart::Series& series = chart.series.emplace_back(DotChart::Series{recipe.column(p), {}});
    for (const Cell& cell : cells) {
      if (cell.column != recipe.column(p) || !cell.row.starts_with("cosine after ") || cell.row.ends_with("seed"))
        continue;
      series.values.push_back(mean_of(cell.values).value());
      series.spread.push_back(sample_sd(cell.values).value_or(0));
    }
  }
  return chart;
}

/// Figure 59.11; without a learning curve the cosines.
Figures draw_queries(const ExperimentItem& item, const std::vector<Cell>& cells, const ReproduceOptions& options,
                     const Context& context) {
  const QueriesRecipe recipe = read_queries_recipe(item, item.name);
  Figures figures;
  if (recipe.problem.epochs == 0) {
    figures.dots = {cosine_chart(recipe, cells)};
    return figures;
  }
  const std::vector<QueriesResult> results = all_queries(item, options, context);
  std::vector<double> mean(results.front().excess.size(), 0.0);
  for (const QueriesResult& result : results)
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += result.excess[i] / static_cast<double>(results.size());
  figures.charts = {
      learning_chart("figure_59_11_one_run", "Learning curve of one run", results.front().excess),
      learning_chart("figure_59_11_mean", fmt::format("Mean learning curve of {} runs", results.size()), mean)};
  DotChart weights{.name = "figure_59_11_weights",
                   .title = "Weights of the model and of the estimate, scaled to length 1",
                   .y_title = "weight",
                   .categories = {},
                   .series = {{"model", {}}, {"estimate by active learning", {}}}};
  const QueriesResult& first = results.front();
  for (Index j = 0; j < first.truth.size(); ++j) {
    weights.categories.push_back(fmt::format("{}", j + 1));
    weights.series[0].values.push_back(first.truth[j] / first.truth.norm());
    weights.series[1].values.push_back(first.estimate[j] / first.estimate.norm());
  }
  figures.dots.push_back(std::move(weights));
  return figures;
}

}  // namespace

ExperimentKind logistic_queries_kind() {
  return {.name = "logistic_queries",
          .reads_data = false,
          .matrix = false,
          .check = check_queries,
          .run = run_queries,
          .draw = draw_queries};
}

}  // namespace ecotone
