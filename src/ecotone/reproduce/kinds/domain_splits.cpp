#include "ecotone/reproduce/kinds/domain_splits.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/data/dataset_digest.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/evaluate/tune/tune_fits.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/grid.h"
#include "ecotone/methods/model.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/reproduce/recipe_data.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

constexpr std::string_view splits_metrics[] = {"rmse", "mae", "accuracy", "balanced_accuracy", "log_loss"};

struct SplitsTable {
  std::string name;
  TableData table;
};

struct SplitsColumn {
  std::string name, data, learner, stages_of;
  int rows_per_domain = 0;
};

struct SplitsRow {
  std::string name, stages, pipeline;
  std::vector<std::pair<std::string, std::string>> in;

  /// The grid of a column.
  std::string text(const SplitsColumn& column) const {
    const auto own = std::ranges::find(in, column.name, &std::pair<std::string, std::string>::first);
    if (own != in.end()) return own->second;
    return pipeline.empty() ? fmt::format("{} | {}", stages, column.learner) : pipeline;
  }
  /// Whether its pipeline in a column follows from stages and learner.
  bool composed(const SplitsColumn& column) const {
    return pipeline.empty() &&
           std::ranges::find(in, column.name, &std::pair<std::string, std::string>::first) == in.end();
  }
};

struct SplitsRecipe {
  std::vector<SplitsTable> data;
  int train_domains = 0, folds = 3, tuning_rows = 0, test_rows = 0;
  std::vector<SplitsColumn> columns;
  std::vector<SplitsRow> rows;

  bool leaves_one_out() const { return train_domains == 0; }
  std::size_t column_number(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::find(columns, name, &SplitsColumn::name) - columns.begin());
  }
};

SplitsColumn read_column(const Json& json, const SplitsRecipe& recipe, const std::string& where) {
  JsonFields fields(json, where + ", a column");
  SplitsColumn column{fields.text("column"), fields.text("data"), fields.text("learner"), fields.text("stages_of", "")};
  if (fields.has("rows_per_domain")) column.rows_per_domain = fields.whole("rows_per_domain", 1, 1'000'000'000);
  fields.finish();
  if (std::ranges::find(recipe.data, column.data, &SplitsTable::name) == recipe.data.end())
    file_error("bad_experiment", "{}: column '{}' has the data '{}', which are not there", where, column.name,
               column.data);
  if (column.stages_of.empty()) return column;
  const auto other = std::ranges::find(recipe.columns, column.stages_of, &SplitsColumn::name);
  if (other == recipe.columns.end() || other->data != column.data || other->rows_per_domain != column.rows_per_domain)
    file_error("bad_experiment", "{}: column '{}' takes the stages of '{}', which is not before it or has other rows",
               where, column.name, column.stages_of);
  return column;
}

SplitsRow read_row(const Json& json, const SplitsRecipe& recipe, const std::string& where) {
  JsonFields fields(json, where + ", a row");
  SplitsRow row{fields.text("row"), fields.text("stages", ""), fields.text("pipeline", ""), {}};
  if (fields.has("in")) row.in = fields.named_texts("in");
  fields.finish();
  if (row.stages.empty() == row.pipeline.empty())
    file_error("bad_experiment", "{}: row '{}' needs either 'stages' or 'pipeline'", where, row.name);
  for (const auto& [column, text] : row.in)
    if (recipe.column_number(column) == recipe.columns.size())
      file_error("bad_experiment", "{}: row '{}' has a pipeline in '{}', which is not a column", where, row.name,
                 column);
  return row;
}

SplitsRecipe read_splits_recipe(const ExperimentItem& item, const std::string& where) {
  const MetricInfo* metric = find_metric(item.metric);
  if (std::ranges::find(splits_metrics, item.metric) == std::end(splits_metrics))
    file_error("bad_experiment", "{}: field 'metric' of kind domain_splits must be one of {}, got '{}'", where,
               fmt::join(splits_metrics, ", "), item.metric);
  SplitsRecipe recipe;
  JsonFields fields(item.recipe, where);
  for (const Json& json : fields.list("data")) {
    JsonFields one(json, where + ", a data set");
    recipe.data.push_back({one.text("data"), TableData::read(one, metric->task)});
    one.finish();
  }
  recipe.train_domains = fields.whole("train_domains", 0, 1'000'000);
  recipe.folds = fields.whole("folds", 2, 1000);
  if (fields.has("tuning_rows")) recipe.tuning_rows = fields.whole("tuning_rows", 1, 1'000'000'000);
  if (fields.has("test_rows")) recipe.test_rows = fields.whole("test_rows", 1, 1'000'000'000);
  for (const Json& json : fields.list("columns")) recipe.columns.push_back(read_column(json, recipe, where));
  for (const Json& json : fields.list("rows")) recipe.rows.push_back(read_row(json, recipe, where));
  fields.finish();
  return recipe;
}

std::vector<CellName> check_splits(const ExperimentItem& item, const std::string& where) {
  const SplitsRecipe recipe = read_splits_recipe(item, where);
  std::vector<CellName> cells;
  for (const SplitsColumn& column : recipe.columns) {
    for (const SplitsRow& row : recipe.rows) {
      try {
        for (const Pipeline& point : expand_grid(row.text(column)))
          if (!point.predicts()) option_error("no_learner", "\"{}\" does not end in a learner", point.text());
      } catch (const Error& error) {
        file_error("bad_experiment", "{}: row '{}' in '{}': {}", where, row.name, column.name, error.what());
      }
      cells.emplace_back(row.name, column.name);
    }
  }
  return cells;
}

/// At most `most` rows of every domain, drawn at random; 0: all.
std::vector<Index> some_of_each(const Dataset& data, const std::vector<Index>& domains, int most, Random random) {
  std::vector<Index> rows;
  for (const Index domain : domains) {
    const std::vector<Index> own = data.domain.rows_of(domain);
    const Index count = most > 0 ? std::min<Index>(most, std::ssize(own)) : std::ssize(own);
    for (const Index i : random.sample(std::ssize(own), count)) rows.push_back(own[at(i)]);
  }
  std::ranges::sort(rows);
  return rows;
}

/// One draw of training and test domains.
struct DomainDraw {
  std::vector<Index> train, test;

  /// The training domains in folds.
  std::vector<std::vector<Index>> folds(int count, Random random) const {
    std::vector<std::vector<Index>> folds(std::min(static_cast<std::size_t>(count), train.size()));
    const std::vector<Index> order = random.permutation(std::ssize(train));
    for (std::size_t i = 0; i < order.size(); ++i) folds[i % folds.size()].push_back(train[at(order[i])]);
    return folds;
  }
};

DomainDraw draw_domains(Index domains, int train, Random random) {
  const std::vector<Index> order = random.permutation(domains);
  DomainDraw draw;
  for (Index i = 0; i < domains; ++i) (i < train ? draw.train : draw.test).push_back(order[at(i)]);
  std::ranges::sort(draw.train);
  std::ranges::sort(draw.test);
  return draw;
}

DomainDraw all_but(Index domains, Index left_out) {
  DomainDraw draw;
  for (Index d = 0; d < domains; ++d) (d == left_out ? draw.test : draw.train).push_back(d);
  return draw;
}

/// The rows of a list that are in one of these domains, or in none of them.
std::vector<Index> in_domains(const Dataset& data, const std::vector<Index>& rows, const std::vector<Index>& domains,
                              bool inside) {
  std::vector<Index> kept;
  for (const Index i : rows) {
    const bool there = std::ranges::find(domains, Index{data.domain.index[at(i)]}) != domains.end();
    if (there == inside) kept.push_back(i);
  }
  return kept;
}

/// One table with a split of its domains.
class SplitRun {
 public:
  SplitRun(const Dataset& data, const SplitsRecipe& recipe, const std::string& metric, const DomainDraw& draw,
           int per_domain, const Context& context)
      : data_(data), metric_(*find_metric(metric)), context_(context) {
    train_ = some_of_each(data, draw.train, per_domain, context.random("training rows"));
    test_ = some_of_each(data, draw.test, recipe.test_rows, context.random("test rows"));
    std::vector<Index> tuning = train_;
    if (recipe.tuning_rows > 0 && (per_domain == 0 || recipe.tuning_rows < per_domain))
      tuning = some_of_each(data, draw.train, recipe.tuning_rows, context.random("training rows"));
    for (const std::vector<Index>& fold : draw.folds(recipe.folds, context.random("folds"))) {
      folds_.plain.push_back({.name = fmt::format("fold {}", folds_.plain.size() + 1),
                              .source = in_domains(data, tuning, fold, false),
                              .target = {},
                              .held_out = in_domains(data, tuning, fold, true)});
    }
    folds_.adapting = folds_.plain;
  }

  /// The point of a grid that is best on the folds.
  Pipeline chosen(const std::vector<Pipeline>& points) const {
    if (points.size() == 1) return points.front();
    const PointScores scores = fit_points(data_, points, folds_, 1, nullptr, context_);
    std::optional<std::size_t> best;
    double badness = 0;
    for (std::size_t p = 0; p < points.size(); ++p) {
      std::vector<double> values;
      for (const FoldScore& fold : scores.points[p])
        if (const auto value = value_of(fold.metrics, std::string(metric_.name))) values.push_back(*value);
      if (values.size() < folds_.plain.size()) continue;
      const double own = metric_.badness(mean_of(values).value());
      if (best && own >= badness) continue;
      best = p;
      badness = own;
    }
    if (!best) option_error("no_point", "no point of \"{}\" could be fitted on all folds", points.front().text());
    return points[*best];
  }

  /// The metric of a pipeline on the test domains, all rows together.
  double value(const Pipeline& pipeline) const {
    const Model model = Model::fit(pipeline, train_view(data_, train_, {}, context_), data_.schema, context_);
    const Split split{.name = {}, .source = {}, .target = {}, .held_out = test_};
    const Outcome outcome = outcome_of(model.predict(batch(data_, test_), context_), model.classes(), *data_.y, split);
    if (data_.y->task == Task::regress) {
      Vector truth(std::ssize(test_));
      for (Index i = 0; i < truth.size(); ++i) truth[i] = data_.y->value[test_[at(i)]];
      return metric_.name == "mae" ? mae(truth, outcome.value) : rmse(truth, outcome.value);
    }
    const std::vector<std::int32_t> truth = data_.y->take(test_).index;
    if (metric_.name == "log_loss") return log_loss(truth, outcome.probability);
    // in per cent
    return 100 * (metric_.name == "accuracy" ? accuracy(truth, outcome.predicted)
                                             : balanced_accuracy(truth, outcome.predicted));
  }

 private:
  const Dataset& data_;
  const MetricInfo& metric_;
  Context context_;
  std::vector<Index> train_, test_;
  TuneFolds folds_;
};

/// The pipelines that a row tries in a column. `chosen`: what it took in the column whose stages it shares.
std::vector<Pipeline> points_of(const SplitsRow& row, const SplitsColumn& column, const Pipeline* chosen) {
  if (chosen == nullptr || !row.composed(column)) return expand_grid(row.text(column));
  return expand_grid(fmt::format("{} | {}", chosen->before_last().text(), column.learner));
}

/// The values of all cells of one table's columns on one draw: by column, then row.
std::vector<double> run_split(const SplitsRecipe& recipe, const SplitsTable& table, const Dataset& data,
                              const std::string& metric, const DomainDraw& draw, const Context& context) {
  std::vector<double> values;
  std::map<std::pair<std::string, std::string>, Pipeline> taken;  // by column and row
  for (const SplitsColumn& column : recipe.columns) {
    if (column.data != table.name) continue;
    const SplitRun run(data, recipe, metric, draw, column.rows_per_domain, context);
    for (const SplitsRow& row : recipe.rows) {
      context.check_cancelled();
      const auto before = taken.find({column.stages_of, row.name});
      const Pipeline pipeline = run.chosen(points_of(row, column, before == taken.end() ? nullptr : &before->second));
      taken.insert_or_assign({column.name, row.name}, pipeline);
      values.push_back(run.value(pipeline));
    }
  }
  return values;
}

/// Values of all draws of one repetition: one draw, or one for each domain left out.
using SplitValues = std::vector<std::vector<double>>;

SplitValues run_repetition(const SplitsRecipe& recipe, const SplitsTable& table, const Dataset& data,
                           const std::string& metric, const Context& context) {
  const Index domains = data.domain.count();
  if (!recipe.leaves_one_out()) {
    if (recipe.train_domains >= domains)
      data_error("too_few_domains", "{}: {} domains are to train and some to test, but there are {}", table.name,
                 recipe.train_domains, domains);
    return {run_split(recipe, table, data, metric,
                      draw_domains(domains, recipe.train_domains, context.random("domains")), context)};
  }
  SplitValues values(at(domains));
  context.parallel(domains, [&](Index d) {
    values[at(d)] = run_split(recipe, table, data, metric, all_but(domains, d),
                              context.derived("left out", static_cast<std::uint64_t>(d)));
  });
  return values;
}

std::string domain_row(const std::string& row, const std::string& domain) { return fmt::format("{}, {}", row, domain); }

std::vector<Cell> run_splits(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const SplitsRecipe recipe = read_splits_recipe(item, item.name);
  std::vector<Dataset> data;
  std::vector<RepeatedPart> parts;
  for (const SplitsTable& table : recipe.data) {
    data.push_back(table.table.load(options.data, context.observed_by(nullptr)));
    parts.push_back({table.name});
    if (options.journal) parts.back().data = digest_of(data.back(), context);
  }
  const int at_most = recipe.leaves_one_out() ? 1 : 0;
  const auto results =
      run_repetitions<SplitValues>(item, parts, options, at_most, context, [&](std::size_t d, const Context& own) {
        return run_repetition(recipe, recipe.data[d], data[d], item.metric, own);
      });
  const auto repetitions = static_cast<std::size_t>(options.repetitions);
  std::vector<Cell> cells, hidden;
  std::map<std::string, std::size_t> seen;  // columns of each table so far
  for (const SplitsColumn& column : recipe.columns) {
    const auto d =
        static_cast<std::size_t>(std::ranges::find(recipe.data, column.data, &SplitsTable::name) - recipe.data.begin());
    const std::size_t first = seen[column.data]++ * recipe.rows.size();
    for (std::size_t p = 0; p < recipe.rows.size(); ++p) {
      Cell& cell = cells.emplace_back(Cell{recipe.rows[p].name, column.name, {}});
      for (std::size_t r = 0; r < repetitions; ++r)
        for (const std::vector<double>& draw : results[d * repetitions + r]) cell.values.push_back(draw[first + p]);
      if (!recipe.leaves_one_out()) continue;
      for (std::size_t k = 0; k < results[d * repetitions].size(); ++k) {
        Cell& own =
            hidden.emplace_back(Cell{domain_row(recipe.rows[p].name, data[d].domain.names[k]), column.name, {}, true});
        for (std::size_t r = 0; r < repetitions; ++r) own.values.push_back(results[d * repetitions + r][k][first + p]);
      }
    }
  }
  cells.insert(cells.end(), hidden.begin(), hidden.end());
  return cells;
}

/// A chart for every column: the rows, or the domains with a series for each row.
Figures draw_splits(const ExperimentItem& item, const std::vector<Cell>& cells, const ReproduceOptions&,
                    const Context&) {
  const SplitsRecipe recipe = read_splits_recipe(item, item.name);
  Figures figures;
  if (!recipe.leaves_one_out()) {
    DotChart chart{.name = "values", .title = item.title, .y_title = item.metric, .categories = {}, .series = {}};
    for (const SplitsRow& row : recipe.rows) chart.categories.push_back(row.name);
    for (const SplitsColumn& column : recipe.columns) {
      DotChart::Series& series = chart.series.emplace_back(DotChart::Series{column.name, {}, {}});
      for (const Cell& cell : cells) {
        if (cell.column != column.name || cell.hidden) continue;
        series.values.push_back(mean_of(cell.values).value());
        series.spread.push_back(sample_sd(cell.values).value_or(0));
      }
    }
    figures.dots.push_back(std::move(chart));
    return figures;
  }
  for (const SplitsColumn& column : recipe.columns) {
    DotChart chart{.name = fmt::format("values_{}", figures.dots.size() + 1),
                   .title = column.name,
                   .y_title = item.metric,
                   .categories = {},
                   .series = {}};
    for (const SplitsRow& row : recipe.rows) {
      DotChart::Series& series = chart.series.emplace_back(DotChart::Series{row.name, {}, {}});
      for (const Cell& cell : cells) {
        const std::string begin = domain_row(row.name, "");
        if (!cell.hidden || cell.column != column.name || !cell.row.starts_with(begin)) continue;
        series.values.push_back(mean_of(cell.values).value());
        if (chart.series.size() == 1) chart.categories.push_back(cell.row.substr(begin.size()));
      }
    }
    figures.dots.push_back(std::move(chart));
  }
  return figures;
}

}  // namespace

ExperimentKind domain_splits_kind() {
  return {.name = "domain_splits",
          .reads_data = true,
          .matrix = false,
          .check = check_splits,
          .run = run_splits,
          .draw = draw_splits};
}

}  // namespace ecotone
