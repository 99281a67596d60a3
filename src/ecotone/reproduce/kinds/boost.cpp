#include "ecotone/reproduce/kinds/boost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ecotone/base/error.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/reproduce/kinds/boost_parts.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

enum class BoostMethod { svm, dasvm, adaboost, daboost };

struct BoostRow {
  std::string name;
  BoostMethod method = BoostMethod::svm;
  SvmGrid svm;
  DasvmGrid dasvm;
  int rounds = 0;         ///< adaboost
  std::string run, rule;  ///< daboost
  bool circular = false;  ///< the value is the circular accuracy
  bool hidden = false;
};

struct BoostRecipe {
  int rows_per_domain = 0, test = 0;
  std::vector<std::string> angles;
  std::map<std::string, BoostSetting> runs;
  std::vector<BoostRow> rows;

  bool needs(const std::string& run, const std::set<std::string>& rules) const {
    return std::ranges::any_of(rows, [&](const BoostRow& row) { return row.run == run && rules.contains(row.rule); });
  }
};

void read_method(BoostRow& row, JsonFields& fields, const BoostRecipe& recipe) {
  const std::string method = fields.text("method");
  if (method == "svm") {
    row.svm = {fields.positives("C"), fields.positives("gamma"), fields.whole("folds", 2, 100)};
  } else if (method == "dasvm") {
    row.method = BoostMethod::dasvm;
    row.dasvm = {fields.positives("C"), fields.positives("gamma"), fields.positives("rho")};
    for (const double rho : row.dasvm.rho)
      if (rho != std::floor(rho) || rho > 1e9)
        file_error("bad_experiment", "{}: field 'rho' must be whole numbers", fields.where());
    if (fields.has("of") && fields.text("of") != "circular_accuracy")
      file_error("bad_experiment", "{}: field 'of' must be circular_accuracy", fields.where());
    row.circular = fields.has("of");
  } else if (method == "adaboost") {
    row.method = BoostMethod::adaboost;
    row.rounds = fields.whole("rounds", 1, 1'000'000);
  } else if (method == "daboost") {
    row.method = BoostMethod::daboost;
    row.run = fields.text("run");
    row.rule = fields.text("rule");
    if (!recipe.runs.contains(row.run))
      file_error("bad_experiment", "{}: there is no run '{}'", fields.where(), row.run);
    if (!std::set<std::string>{"last", "eq13", "eq14", "best", "vote"}.contains(row.rule))
      file_error("bad_experiment", "{}: field 'rule' must be last, eq13, eq14, best or vote, got '{}'", fields.where(),
                 row.rule);
  } else {
    file_error("bad_experiment", "{}: field 'method' must be svm, dasvm, adaboost or daboost, got '{}'", fields.where(),
               method);
  }
}

BoostRecipe read_boost_recipe(const ExperimentItem& item, const std::string& where) {
  if (item.metric != "error")
    file_error("bad_experiment", "{}: field 'metric' of kind boost must be error, got '{}'", where, item.metric);
  JsonFields fields(item.recipe, where);
  BoostRecipe recipe;
  recipe.rows_per_domain = fields.whole("rows_per_domain", 10, 1'000'000);
  recipe.test = fields.whole("test", 1, 1'000'000);
  recipe.angles = fields.texts("angles");
  if (fields.has("runs")) {
    for (const Json& json : fields.list("runs")) {
      JsonFields one(json, where + ", a run");
      recipe.runs[one.text("run")] = read_boost_setting(one);
      one.finish();
    }
  }
  std::set<std::string> names;
  for (const Json& json : fields.list("rows")) {
    JsonFields row(json, where + ", a row");
    BoostRow& read = recipe.rows.emplace_back();
    read.name = row.text("row");
    if (!names.insert(read.name).second) file_error("bad_experiment", "{}: two rows are called '{}'", where, read.name);
    if (row.has("hidden")) read.hidden = row.flag("hidden");
    read_method(read, row, recipe);
    row.finish();
  }
  fields.finish();
  return recipe;
}

std::vector<CellName> check_boost(const ExperimentItem& item, const std::string& where) {
  const BoostRecipe recipe = read_boost_recipe(item, where);
  std::vector<CellName> cells;
  for (const std::string& angle : recipe.angles)
    for (const BoostRow& row : recipe.rows) cells.emplace_back(row.name, angle);
  return cells;
}

/// Values of all rows on one draw.
std::vector<double> run_draw(const BoostRecipe& recipe, const std::string& angle, const Context& context) {
  const MoonsDraw draw = draw_moons_problem(angle, recipe.rows_per_domain, recipe.test, context);
  std::map<std::string, BoostErrors> boosted;
  for (const auto& one : recipe.runs)
    boosted[one.first] = daboost_errors(draw, one.second, recipe.needs(one.first, {"eq13", "eq14"}),
                                        recipe.needs(one.first, {"vote"}), context);
  std::vector<double> values;
  // Rows that show two values of one fit share it.
  std::map<std::vector<std::vector<double>>, DasvmResult> adapted;
  for (const BoostRow& row : recipe.rows) {
    if (row.method == BoostMethod::svm) {
      values.push_back(svm_error(draw, row.svm, context));
    } else if (row.method == BoostMethod::adaboost) {
      values.push_back(adaboost_error(draw, row.rounds, context));
    } else if (row.method == BoostMethod::dasvm) {
      const std::vector<std::vector<double>> key{row.dasvm.cost, row.dasvm.gamma, row.dasvm.rho};
      if (!adapted.contains(key)) adapted[key] = dasvm_result(draw, row.dasvm, context);
      values.push_back(row.circular ? adapted[key].circular_accuracy : adapted[key].error);
    } else {
      const BoostErrors& of = boosted.at(row.run);
      values.push_back(row.rule == "last"   ? of.last
                       : row.rule == "eq13" ? of.eq13
                       : row.rule == "eq14" ? of.eq14
                       : row.rule == "best" ? of.best
                                            : of.vote);
    }
  }
  return values;
}

std::vector<Cell> run_boost(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const BoostRecipe recipe = read_boost_recipe(item, item.name);
  std::vector<RepeatedPart> parts;
  for (const std::string& angle : recipe.angles) parts.push_back({angle});
  const auto run = [&](std::size_t c, const Context& own) { return run_draw(recipe, recipe.angles[c], own); };
  const auto draws = run_repetitions<std::vector<double>>(item, parts, options, 0, context, run);
  const auto repetitions = static_cast<std::size_t>(options.repetitions);
  std::vector<Cell> cells;
  for (std::size_t c = 0; c < recipe.angles.size(); ++c) {
    for (std::size_t p = 0; p < recipe.rows.size(); ++p) {
      Cell& cell = cells.emplace_back(Cell{recipe.rows[p].name, recipe.angles[c], {}, recipe.rows[p].hidden});
      for (std::size_t r = 0; r < repetitions; ++r) cell.values.push_back(draws[c * repetitions + r][p]);
    }
  }
  return cells;
}

}  // namespace

ExperimentKind boost_kind() {
  return {.name = "boost", .reads_data = false, .matrix = false, .check = check_boost, .run = run_boost};
}

}  // namespace ecotone
