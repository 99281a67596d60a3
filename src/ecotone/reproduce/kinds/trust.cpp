#include "ecotone/reproduce/kinds/trust.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "ecotone/base/error.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/methods/model.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/reproduce/recipe_data.h"
#include "ecotone/reproduce/repetitions.h"
#include "ecotone/trust/expect.h"

namespace ecotone {

namespace {

struct TrustData {
  std::string name, column;
  Task task = Task::classify;
  std::vector<std::string> pipelines;
  bool last = false;
  RecipeData from;
};

struct TrustRecipe {
  std::vector<TrustData> data;
  std::vector<std::string> methods;
  double level = 0.9;
};

Task read_trust_task(JsonFields& fields) {
  const std::string text = fields.text("task", "classify");
  for (const Task task : {Task::classify, Task::regress})
    if (task_name(task) == text) return task;
  file_error("bad_experiment", "{}: field 'task' is '{}'", fields.where(), text);
}

TrustRecipe read_trust_recipe(const ExperimentItem& item, const std::string& where) {
  TrustRecipe recipe;
  JsonFields fields(item.recipe, where);
  for (const Json& json : fields.list("data")) {
    JsonFields one(json, where + ", a data set");
    TrustData data;
    data.name = one.text("data");
    data.column = one.text("column", data.name);
    data.task = read_trust_task(one);
    data.pipelines = one.texts("pipelines");
    data.last = one.has("last") && one.flag("last");
    const int draws = one.has("draws") ? one.whole("draws", 1, 10'000) : 1;
    data.from = RecipeData::read(one, data.task);
    one.finish();
    for (int draw = 1; draw <= draws; ++draw) {
      TrustData drawn = data;
      if (draws > 1) drawn.name = fmt::format("{} {}", data.name, draw);
      if (std::ranges::find(recipe.data, drawn.name, &TrustData::name) != recipe.data.end())
        file_error("bad_experiment", "{}: two data sets are called '{}'", where, drawn.name);
      recipe.data.push_back(std::move(drawn));
    }
  }
  if (fields.has("methods")) recipe.methods = fields.texts("methods");
  if (fields.has("level")) recipe.level = fields.positive("level");
  fields.finish();
  return recipe;
}

/// The recipe with what it names checked.
TrustRecipe checked_recipe(const ExperimentItem& item, const std::string& where, const std::string& behind) {
  TrustRecipe recipe = read_trust_recipe(item, where);
  try {
    for (const TrustData& data : recipe.data) {
      data.from.check();
      for (const std::string& text : data.pipelines) Pipeline::parse(text + behind);
    }
    for (const std::string& method : recipe.methods) Pipeline::parse("logistic | conformal method=" + method);
  } catch (const Error& error) {
    file_error("bad_experiment", "{}: {}", where, error.what());
  }
  return recipe;
}

void add_once(std::vector<CellName>& cells, const CellName& cell) {
  if (std::ranges::find(cells, cell) == cells.end()) cells.push_back(cell);
}

/// What one data set gives for the cells.
using TrustValues = std::vector<std::pair<CellName, double>>;

/// Values of all data sets, those of one cell together, in the order of `names`.
template <class Run>
std::vector<Cell> run_data(const ExperimentItem& item, const std::vector<TrustData>& all,
                           const std::vector<CellName>& names, const ReproduceOptions& options, const Context& context,
                           const Run& run) {
  std::vector<RepeatedPart> parts;
  for (const TrustData& data : all) {
    parts.push_back({data.name});
    if (options.journal) parts.back().data = data.from.digest(options.data, context);
  }
  std::vector<Cell> cells;
  for (const CellName& name : names) cells.push_back({name.first, name.second, {}});
  const auto of_part = [&](std::size_t d, const Context& own) {
    return run(all[d], all[d].from.load(options.data, own), own);
  };
  for (const TrustValues& values : run_repetitions<TrustValues>(item, parts, options, 1, context, of_part))
    for (const auto& [name, value] : values) {
      const auto found =
          std::ranges::find_if(cells, [&](const Cell& c) { return c.row == name.first && c.column == name.second; });
      if (found == cells.end()) internal_error("no cell {}, {}", name.first, name.second);
      found->values.push_back(value);
    }
  std::erase_if(cells, [](const Cell& cell) { return cell.values.empty(); });
  return cells;
}

/// The domains that are the new one in turn.
std::vector<Index> new_domains(const TrustData& data, const Dataset& set) {
  std::vector<Index> domains;
  for (Index d = data.last ? set.domain.count() - 1 : 0; d < set.domain.count(); ++d) domains.push_back(d);
  return domains;
}

/// A model of all domains but one, which a pipeline that adapts sees without labels, and what it scores there.
struct NewDomain {
  Model model;
  Prediction prediction;
  DomainScore score;
};

NewDomain fitted_without(const Dataset& data, Index domain, const Pipeline& pipeline, bool adapts,
                         const Context& context) {
  std::vector<Index> source, own;
  for (Index row = 0; row < data.rows(); ++row) (data.domain.index[at(row)] == domain ? own : source).push_back(row);
  const TrainView view = train_view(data, source, adapts ? own : std::vector<Index>{}, context);
  Model model = Model::fit(pipeline, view, data.schema, context);
  Prediction prediction = model.predict(batch(data, own), context);
  Split split;
  split.held_out = own;
  std::vector<bool> held(data.domain.names.size(), false);
  held[at(domain)] = true;
  const Outcome outcome = outcome_of(prediction, model.classes(), *data.y, split);
  DomainScore score = score_domains(data, held, {outcome}, {{.sets = pipeline.makes_sets()}, 0}, context).front();
  return {std::move(model), std::move(prediction), std::move(score)};
}

// ---- expected

constexpr std::string_view default_row = "default";

std::vector<CellName> expected_cells(const TrustRecipe& recipe) {
  std::vector<CellName> cells;
  std::vector<std::string> rows = {std::string(default_row)};
  for (const EstimatorInfo& info : estimator_infos()) rows.emplace_back(info.name);
  for (const TrustData& data : recipe.data)
    for (const std::string& row : rows) {
      const bool numbers = row == "source" || row == "importance" || row == default_row;
      if (data.task == Task::regress && !numbers) continue;
      for (const char* what : {"covered", "error", "width"}) add_once(cells, {row, data.column + " " + what});
    }
  for (const std::string& row : rows) add_once(cells, {row, "all covered"});
  return cells;
}

std::vector<CellName> check_expected(const ExperimentItem& item, const std::string& where) {
  return expected_cells(checked_recipe(item, where, ""));
}

/// How an interval fared against the truth: points of a share, per cent of an error.
void add_judged(TrustValues& values, const std::string& row, const TrustData& data, const EstimatedValue& value,
                double truth) {
  const bool share = data.task == Task::classify;
  values.push_back({{row, data.column + " error"},
                    share ? 100 * std::abs(truth - value.estimate) : 100 * std::abs(value.estimate / truth - 1)});
  if (!value.interval) return;
  const bool covered = value.interval->low <= truth && truth <= value.interval->high;
  values.push_back({{row, data.column + " covered"}, covered ? 100.0 : 0.0});
  values.push_back({{row, data.column + " width"},
                    share ? 100 * (value.interval->high - value.interval->low)
                          : 100 * (value.interval->high / value.interval->low - 1)});
  if (!data.from.drawn || data.from.drawn->generator == "clinics")
    values.push_back({{row, "all covered"}, covered ? 100.0 : 0.0});
}

TrustValues judge_expected(const TrustData& data, Dataset set, const Context& context) {
  const std::string metric = data.task == Task::classify ? "accuracy" : "rmse";
  TrustValues values;
  for (const Index domain : new_domains(data, set))
    for (const std::string& text : data.pipelines) {
      const Pipeline pipeline = Pipeline::parse(text);
      set_targets(set, {set.domain.names[at(domain)]});
      const Expectation found = expect_targets(set, pipeline, {}, context).front();
      const auto truth = value_of(fitted_without(set, domain, pipeline, false, context).score.metrics, metric);
      const auto expected = std::ranges::find(found.metrics, metric, &ExpectedMetric::metric);
      if (!truth || expected == found.metrics.end()) continue;
      add_judged(values, std::string(default_row), data, expected->estimators.front(), *truth);
      for (const EstimatedValue& value : expected->estimators)
        add_judged(values, std::string(estimator_name(value.estimator)), data, value, *truth);
    }
  return values;
}

std::vector<Cell> run_expected(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const TrustRecipe recipe = read_trust_recipe(item, item.name);
  return run_data(item, recipe.data, expected_cells(recipe), options, context, judge_expected);
}

// ---- sets

std::vector<CellName> sets_cells(const TrustRecipe& recipe) {
  std::vector<CellName> cells;
  for (const TrustData& data : recipe.data)
    for (const std::string& method : recipe.methods)
      for (const char* what : {"coverage", "size"}) add_once(cells, {method, data.column + " " + what});
  return cells;
}

std::vector<CellName> check_sets(const ExperimentItem& item, const std::string& where) {
  return sets_cells(checked_recipe(item, where, " | conformal"));
}

std::vector<Cell> run_sets(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const TrustRecipe recipe = read_trust_recipe(item, item.name);
  const auto judge = [&](const TrustData& data, const Dataset& set, const Context& own) {
    TrustValues values;
    const bool classes = data.task == Task::classify;
    for (const Index domain : new_domains(data, set))
      for (const std::string& text : data.pipelines)
        for (const std::string& method : recipe.methods) {
          const auto domains = static_cast<double>(set.domain.count() - 1);
          if (method == "hcp" && domains / (domains + 1) < recipe.level) continue;  // infinite
          const Pipeline pipeline =
              Pipeline::parse(fmt::format("{} | conformal method={} level={}", text, method, recipe.level));
          const NewDomain found = fitted_without(set, domain, pipeline, method == "weighted", own);
          const auto coverage = value_of(found.score.metrics, classes ? "set_coverage" : "interval_coverage");
          const auto size = value_of(found.score.metrics, classes ? "set_size" : "interval_width");
          if (coverage) values.push_back({{method, data.column + " coverage"}, 100 * *coverage});
          if (size) values.push_back({{method, data.column + " size"}, *size});
        }
    return values;
  };
  return run_data(item, recipe.data, sets_cells(recipe), options, context, judge);
}

// ---- class shares

constexpr std::array<std::string_view, 3> prior_rows = {"none", "always", "replay"};

std::vector<CellName> shares_cells(const TrustRecipe& recipe) {
  std::vector<CellName> cells;
  for (const TrustData& data : recipe.data) {
    for (const std::string_view row : prior_rows) add_once(cells, {std::string(row), data.column});
    add_once(cells, {"replay", data.column + " corrected"});
  }
  return cells;
}

std::vector<CellName> check_shares(const ExperimentItem& item, const std::string& where) {
  return shares_cells(checked_recipe(item, where, " | adapt.prior"));
}

TrustValues judge_shares(const TrustData& data, const Dataset& set, const Context& context) {
  TrustValues values;
  for (const Index domain : new_domains(data, set))
    for (const std::string& text : data.pipelines)
      for (const std::string_view row : prior_rows) {
        const Pipeline pipeline =
            Pipeline::parse(row == "none" ? text : fmt::format("{} | adapt.prior correct={}", text, row));
        const NewDomain found = fitted_without(set, domain, pipeline, row != "none", context);
        values.push_back({{std::string(row), data.column}, 100 * *value_of(found.score.metrics, "accuracy")});
        if (row == "replay")
          values.push_back({{"replay", data.column + " corrected"},
                            found.model.state(pipeline.stages().size() - 1).flag("corrects") ? 100.0 : 0.0});
      }
  return values;
}

std::vector<Cell> run_shares(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const TrustRecipe recipe = read_trust_recipe(item, item.name);
  return run_data(item, recipe.data, shares_cells(recipe), options, context, judge_shares);
}

}  // namespace

ExperimentKind expected_kind() {
  return {.name = "expected", .reads_data = true, .matrix = true, .check = check_expected, .run = run_expected};
}

ExperimentKind sets_kind() {
  return {.name = "sets", .reads_data = true, .matrix = true, .check = check_sets, .run = run_sets};
}

ExperimentKind class_shares_kind() {
  return {.name = "class_shares", .reads_data = true, .matrix = true, .check = check_shares, .run = run_shares};
}

}  // namespace ecotone
