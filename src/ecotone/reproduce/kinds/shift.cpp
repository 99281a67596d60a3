#include "ecotone/reproduce/kinds/shift.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/choose/guard.h"
#include "ecotone/methods/model.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/reproduce/recipe_data.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

struct ShiftColumn {
  std::string name;
  GeneratedData data;
};

struct ShiftRow {
  std::string name;
  std::string pipeline;
  std::vector<std::pair<std::string, std::string>> in;  ///< column and its own pipeline
  bool guard = false;                                   ///< fitted under guard
  bool declined = false;                                ///< the value is how often the guard declined, not the error
  std::string minus;                                    ///< the row that it is compared with; empty: the first
  double times = 1;                                     ///< factor of that row's difference from the first

  const std::string& text(const std::string& column) const {
    const auto own = std::ranges::find(in, column, &std::pair<std::string, std::string>::first);
    return own == in.end() ? pipeline : own->second;
  }
};

struct ShiftRecipe {
  std::vector<ShiftColumn> columns;
  std::vector<ShiftRow> rows;
};

/// -1 when there is none.
std::ptrdiff_t row_number(const ShiftRecipe& recipe, const std::string& name) {
  const auto found = std::ranges::find(recipe.rows, name, &ShiftRow::name);
  return found == recipe.rows.end() ? -1 : found - recipe.rows.begin();
}

template <class List>
void require_different(const List& list, const std::string& where, std::string_view what) {
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (list[i].name == list[k].name)
        file_error("bad_experiment", "{}: two {} are called '{}'", where, what, list[i].name);
}

ShiftRecipe read_shift_recipe(const ExperimentItem& item, const std::string& where) {
  if (item.metric != "error") {
    file_error("bad_experiment", "{}: field 'metric' of kind shift must be error, got '{}'", where, item.metric);
  }
  ShiftRecipe recipe;
  JsonFields fields(item.recipe, where);
  for (const Json& json : fields.list("columns")) {
    JsonFields column(json, where + ", a column");
    recipe.columns.push_back({column.text("column"), GeneratedData::read(column)});
    column.finish();
  }
  for (const Json& json : fields.list("rows")) {
    JsonFields row(json, where + ", a row");
    ShiftRow& read = recipe.rows.emplace_back();
    read.name = row.text("row");
    read.pipeline = row.text("pipeline");
    if (row.has("in")) read.in = row.named_texts("in");
    if (row.has("guard")) read.guard = row.flag("guard");
    if (row.has("declined")) read.declined = row.flag("declined");
    if (row.has("minus")) read.minus = row.text("minus");
    if (row.has("times")) read.times = row.number("times");
    if (read.declined && (!read.guard || !read.minus.empty()))
      file_error("bad_experiment", "{}: field 'declined' of row '{}' works only with 'guard' and without 'minus'",
                 where, read.name);
    for (const auto& [column, text] : recipe.rows.back().in)
      if (std::ranges::find(recipe.columns, column, &ShiftColumn::name) == recipe.columns.end())
        file_error("bad_experiment", "{}: row '{}' has a pipeline in '{}', which is not a column", where,
                   recipe.rows.back().name, column);
    row.finish();
  }
  fields.finish();
  require_different(recipe.columns, where, "columns");
  require_different(recipe.rows, where, "rows");
  if (recipe.rows.front().declined || !recipe.rows.front().minus.empty())
    file_error("bad_experiment", "{}: the first row is an error, not a difference", where);
  for (const ShiftRow& row : recipe.rows)
    if (!row.minus.empty() && row_number(recipe, row.minus) < 0)
      file_error("bad_experiment", "{}: row '{}' is compared with '{}', which is not a row", where, row.name,
                 row.minus);
  return recipe;
}

/// Checks that every pipeline and generator exists.
std::vector<CellName> check_shift(const ExperimentItem& item, const std::string& where) {
  const ShiftRecipe recipe = read_shift_recipe(item, where);
  try {
    for (const ShiftColumn& column : recipe.columns) column.data.check();
    for (const ShiftRow& row : recipe.rows)
      for (const ShiftColumn& column : recipe.columns)
        if (const Pipeline pipeline = Pipeline::parse(row.text(column.name)); !pipeline.predicts())
          option_error("no_learner", "\"{}\" does not end in a learner", pipeline.text());
  } catch (const Error& error) {
    file_error("bad_experiment", "{}: {}", where, error.what());
  }
  std::vector<CellName> cells;
  for (const ShiftColumn& column : recipe.columns)
    for (const ShiftRow& row : recipe.rows) cells.emplace_back(row.name, column.name);
  return cells;
}

std::vector<Index> domain_rows(const Dataset& data, std::string_view name, std::string_view column) {
  const auto found = std::ranges::find(data.domain.names, name);
  if (found == data.domain.names.end())
    data_error("unknown_domain", "{}: kind shift needs a domain '{}', the data have {}", column, name,
               fmt::join(data.domain.names, ", "));
  return data.domain.rows_of(found - data.domain.names.begin());
}

/// The rows of all domains whose names begin with "source".
std::vector<Index> source_rows(const Dataset& data, std::string_view column) {
  std::vector<Index> rows;
  for (Index i = 0; i < data.rows(); ++i) {
    const std::string& name =
        data.domain.names[static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(i)])];
    if (name.starts_with("source")) rows.push_back(i);
  }
  return rows.empty() ? domain_rows(data, "source", column) : rows;
}

/// Percentage of misclassified rows.
double error_points(const Prediction& prediction, const std::vector<std::string>& classes, const Labels& y,
                    const std::vector<Index>& rows) {
  Index wrong = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto truth = static_cast<std::size_t>(y.index[static_cast<std::size_t>(rows[i])]);
    wrong += classes[static_cast<std::size_t>(prediction.index[i])] != y.classes[truth];
  }
  return 100.0 * static_cast<double>(wrong) / static_cast<double>(rows.size());
}

/// One fit of one draw.
struct Fitting {
  double error = 0;  ///< in points
  bool declined = false;
  bool converged = true;
};

template <class Archive>
void archive(Archive& with, Fitting& fitting) {
  with(fitting.error, fitting.declined, fitting.converged);
}

/// All rows' fits on one draw of one column.
using Draw = std::vector<Fitting>;

/// A pipeline and whether it is guarded: rows that have both in common share one fit.
using FitKey = std::pair<std::string, bool>;

Draw run_draw(const ShiftColumn& column, const std::vector<FitKey>& keys, const Context& context) {
  const Dataset data = column.data.draw(context);
  if (!data.y || data.y->task != Task::classify)
    data_error("needs_classes", "{}: kind shift needs data with classes", column.name);
  const std::vector<Index> test = domain_rows(data, "test", column.name);
  const TrainView view =
      train_view(data, source_rows(data, column.name), domain_rows(data, "target", column.name), context);
  const Batch unseen = batch(data, test);
  FitCache cache;
  std::map<FitKey, Fitting> done;
  for (const FitKey& key : keys) {
    if (done.contains(key)) continue;
    const Pipeline pipeline = Pipeline::parse(key.first);
    try {
      const auto guarded =
          key.second ? std::optional(guarded_fit(pipeline, view, data.schema, {}, context)) : std::nullopt;
      const Model model = guarded ? guarded->model : Model::fit(pipeline, view, data.schema, context, cache);
      done[key] = {.error = error_points(model.predict(unseen, context), model.classes(), *data.y, test),
                   .declined = guarded && !guarded->note.adapted,
                   .converged = std::ranges::all_of(model.statuses(), &Status::converged)};
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) throw;
      throw Error(error.kind(), error.code(),
                  fmt::format("\"{}\" on {}: {}", pipeline.text(), column.name, error.what()));
    }
  }
  Draw draw;
  for (const FitKey& key : keys) draw.push_back(done[key]);
  return draw;
}

/// The value of row `p` of the table for one draw.
double cell_value(const ShiftRecipe& recipe, const Draw& draw, std::size_t p) {
  const ShiftRow& row = recipe.rows[p];
  if (row.declined) return draw[p].declined ? 100 : 0;
  const double from_first = draw[p].error - draw[0].error;
  if (p == 0) return draw[0].error;
  if (row.minus.empty()) return from_first;
  const auto other = static_cast<std::size_t>(row_number(recipe, row.minus));
  return from_first - row.times * (draw[other].error - draw[0].error);
}

std::vector<Draw> run_draws(const ExperimentItem& item, const ShiftRecipe& recipe, const ReproduceOptions& options,
                            const Context& context) {
  std::vector<std::vector<FitKey>> keys;
  std::vector<RepeatedPart> parts;
  for (const ShiftColumn& column : recipe.columns) {
    parts.push_back({column.name});
    auto& own = keys.emplace_back();
    for (const ShiftRow& row : recipe.rows) own.emplace_back(row.text(column.name), row.guard);
  }
  return run_repetitions<Draw>(item, parts, options, 0, context, [&](std::size_t c, const Context& own) {
    return run_draw(recipe.columns[c], keys[c], own);
  });
}

std::vector<Cell> run_shift(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const ShiftRecipe recipe = read_shift_recipe(item, item.name);
  const std::vector<Draw> draws = run_draws(item, recipe, options, context);
  const auto repetitions = static_cast<std::size_t>(options.repetitions);
  Index not_converged = 0;
  for (const Draw& draw : draws) not_converged += std::ranges::count(draw, false, &Fitting::converged);
  if (not_converged > 0)
    context.warn("not_converged", "reproduce: {} of {} fits did not converge", not_converged,
                 draws.size() * recipe.rows.size());
  std::vector<Cell> cells;
  for (std::size_t c = 0; c < recipe.columns.size(); ++c) {
    for (std::size_t p = 0; p < recipe.rows.size(); ++p) {
      Cell& cell = cells.emplace_back(Cell{recipe.rows[p].name, recipe.columns[c].name, {}});
      for (std::size_t r = 0; r < repetitions; ++r)
        cell.values.push_back(cell_value(recipe, draws[c * repetitions + r], p));
    }
  }
  return cells;
}

}  // namespace

ExperimentKind shift_kind() {
  return {.name = "shift", .reads_data = false, .matrix = false, .check = check_shift, .run = run_shift};
}

}  // namespace ecotone
