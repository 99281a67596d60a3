#include "ecotone/reproduce/kinds/records.h"

#include <algorithm>
#include <array>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/choose/choose.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/reproduce/recipe_data.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

constexpr std::string_view guard_row = "guard";
constexpr std::array<const char*, 3> against_first = {"better", "equal", "worse"};

struct RecordRow {
  std::string name, pipeline;
  std::optional<Task> task;  ///< empty: both
};

struct RecordData {
  std::string name;
  Task task = Task::classify;
  std::string before, learner;
  RecipeData from;
};

struct RecordRecipe {
  std::vector<RecordRow> rows;
  std::vector<RecordData> data;

  std::vector<const RecordRow*> rows_for(Task task) const {
    std::vector<const RecordRow*> result;
    for (const RecordRow& row : rows)
      if (!row.task || *row.task == task) result.push_back(&row);
    return result;
  }
  std::vector<Pipeline> candidates(const RecordData& of) const {
    std::vector<Pipeline> pipelines;
    for (const RecordRow* row : rows_for(of.task)) {
      std::string text = of.before + " | " + row->pipeline;
      if (const auto place = text.find('@'); place != std::string::npos) text.replace(place, 1, of.learner);
      pipelines.push_back(Pipeline::parse(text));
    }
    return pipelines;
  }
};

std::optional<Task> read_task_of(JsonFields& fields) {
  if (!fields.has("task")) return std::nullopt;
  const std::string text = fields.text("task");
  for (const Task task : {Task::classify, Task::regress})
    if (task_name(task) == text) return task;
  file_error("bad_experiment", "{}: field 'task' is '{}'", fields.where(), text);
}

RecordRecipe read_record_recipe(const ExperimentItem& item, const std::string& where) {
  RecordRecipe recipe;
  JsonFields fields(item.recipe, where);
  for (const Json& json : fields.list("rows")) {
    JsonFields one(json, where + ", a row");
    RecordRow row{one.text("row"), one.text("pipeline"), read_task_of(one)};
    one.finish();
    if (row.name == guard_row || std::ranges::find(recipe.rows, row.name, &RecordRow::name) != recipe.rows.end())
      file_error("bad_experiment", "{}: two rows are called '{}'", where, row.name);
    recipe.rows.push_back(std::move(row));
  }
  if (recipe.rows.front().task) file_error("bad_experiment", "{}: the first row must be of every task", where);
  for (const Json& json : fields.list("data")) {
    JsonFields one(json, where + ", a data set");
    RecordData data{
        one.text("data"), read_task_of(one).value_or(Task::classify), one.text("before"), one.text("learner"), {}};
    data.from = RecipeData::read(one, data.task);
    one.finish();
    if (std::ranges::find(recipe.data, data.name, &RecordData::name) != recipe.data.end())
      file_error("bad_experiment", "{}: two data sets are called '{}'", where, data.name);
    recipe.data.push_back(std::move(data));
  }
  fields.finish();
  return recipe;
}

std::string worst_column(const RecordData& data) { return data.name + " worst"; }
std::string gain_column(const RecordData& data) { return data.name + " gain"; }

/// In the order of the table.
std::vector<CellName> record_cells(const RecordRecipe& recipe) {
  std::vector<CellName> cells;
  const auto add_row = [&](const std::string& row, const std::optional<Task>& task) {
    for (const RecordData& data : recipe.data)
      if (!task || *task == data.task) {
        cells.emplace_back(row, data.name);
        cells.emplace_back(row, worst_column(data));
        cells.emplace_back(row, gain_column(data));
      }
    for (const char* what : against_first) cells.emplace_back(row, what);
    cells.emplace_back(row, row == guard_row ? "adapted" : "chosen");
  };
  for (const RecordRow& row : recipe.rows) add_row(row.name, row.task);
  add_row(std::string(guard_row), std::nullopt);
  return cells;
}

std::vector<CellName> check_records(const ExperimentItem& item, const std::string& where) {
  const RecordRecipe recipe = read_record_recipe(item, where);
  try {
    for (const RecordData& data : recipe.data) {
      data.from.check();
      for (const Pipeline& pipeline : recipe.candidates(data))
        if (!pipeline.predicts()) option_error("no_learner", "\"{}\" does not end in a learner", pipeline.text());
    }
  } catch (const Error& error) {
    file_error("bad_experiment", "{}: {}", where, error.what());
  }
  return record_cells(recipe);
}

/// The scores of one row on one data set: its own and the first row's, by domain.
struct RowScores {
  std::string row;
  std::vector<double> own, first;
  Index chosen = 0;  ///< domains for which the guard chose it; of the guard: a row other than the first

  template <class Archive>
  void archive(Archive& with) {
    with(row, own, first, chosen);
  }
};

std::vector<RowScores> scores_of(const RecordRecipe& recipe, const RecordData& data, const Choice& choice) {
  std::vector<RowScores> all;
  for (const RecordRow* row : recipe.rows_for(data.task)) all.push_back({row->name, {}, {}});
  all.push_back({std::string(guard_row), {}, {}});
  for (std::size_t t = 0; t < choice.targets.size(); ++t) {
    const std::vector<std::optional<double>>& truth = choice.targets[t].score;
    const std::size_t chosen = choice.scorers.front().targets[t].chosen;
    if (!truth.front()) continue;
    for (std::size_t r = 0; r < all.size(); ++r) {
      const std::optional<double>& own = truth[r < truth.size() ? r : chosen];
      if (!own) continue;
      all[r].own.push_back(*own);
      all[r].first.push_back(*truth.front());
    }
    ++all[chosen].chosen;
    if (chosen > 0) ++all.back().chosen;
  }
  return all;
}

/// Points of each domain over the first row: of accuracy, or per cent of the first row's error.
std::vector<double> points_of(const RowScores& scores, Task task) {
  std::vector<double> points;
  for (std::size_t d = 0; d < scores.own.size(); ++d)
    points.push_back(100 * (task == Task::classify ? scores.own[d] - scores.first[d]
                                                   : (scores.first[d] - scores.own[d]) / scores.first[d]));
  return points;
}

std::vector<Cell> run_records(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const RecordRecipe recipe = read_record_recipe(item, item.name);
  std::vector<RepeatedPart> parts;
  for (const RecordData& data : recipe.data) {
    parts.push_back({data.name});
    if (options.journal) parts.back().data = data.from.digest(options.data, context);
  }
  const auto run = [&](std::size_t d, const Context& own) {
    const RecordData& data = recipe.data[d];
    return scores_of(recipe, data,
                     choose_candidates(data.from.load(options.data, own), recipe.candidates(data), {}, own));
  };
  const auto results = run_repetitions<std::vector<RowScores>>(item, parts, options, 1, context, run);
  std::vector<Cell> cells;
  for (const CellName& name : record_cells(recipe)) {
    cells.push_back({name.first, name.second, {}});
    cells.back().hidden = std::ranges::find(recipe.data, name.second, gain_column) != recipe.data.end();
  }
  const auto values = [&](const std::string& row, const std::string& column) -> std::vector<double>& {
    return std::ranges::find_if(cells, [&](const Cell& c) { return c.row == row && c.column == column; })->values;
  };
  const auto count = [&](const std::string& row, const char* column, std::size_t domains) {
    std::vector<double>& total = values(row, column);
    total.resize(1, 0);
    total[0] += static_cast<double>(domains);
  };
  for (std::size_t part = 0; part < results.size(); ++part) {
    const RecordData& data = recipe.data[part / static_cast<std::size_t>(options.repetitions)];
    const double unit = data.task == Task::classify ? 100 : 1;
    for (const RowScores& scores : results[part]) {
      const std::vector<double> points = points_of(scores, data.task);
      if (points.empty()) continue;
      for (const double own : scores.own) values(scores.row, data.name).push_back(unit * own);
      values(scores.row, worst_column(data)).push_back(*std::ranges::min_element(points));
      const RowScores means{scores.row, {*mean_of(scores.own)}, {*mean_of(scores.first)}};
      values(scores.row, gain_column(data)).push_back(points_of(means, data.task).front());
      const auto better = static_cast<std::size_t>(std::ranges::count_if(points, [](double p) { return p > 0; }));
      const auto worse = static_cast<std::size_t>(std::ranges::count_if(points, [](double p) { return p < 0; }));
      count(scores.row, "better", better);
      count(scores.row, "equal", points.size() - better - worse);
      count(scores.row, "worse", worse);
      count(scores.row, scores.row == guard_row ? "adapted" : "chosen", at(scores.chosen));
    }
  }
  std::erase_if(cells, [](const Cell& cell) { return cell.values.empty(); });
  return cells;
}

}  // namespace

ExperimentKind records_kind() {
  return {.name = "records", .reads_data = true, .matrix = true, .check = check_records, .run = run_records};
}

}  // namespace ecotone
