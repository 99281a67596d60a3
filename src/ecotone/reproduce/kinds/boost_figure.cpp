#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/reproduce/kinds/boost.h"
#include "ecotone/reproduce/kinds/boost_parts.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

constexpr const char* target_round = "round from which the target loss stays 0";
constexpr const char* source_first = "first round at which the source loss is 0";
constexpr const char* source_round = "round from which the source loss stays 0";
constexpr const char* source_right = "source region, % right";
constexpr const char* target_right = "target region, % right";
constexpr int fine_rows = 10'000;  ///< points of a distribution that represent its region
constexpr Index map_cells = 100;   ///< a side

struct FigureRecipe {
  int rows_per_domain = 0;
  std::string angle;
  BoostSetting run;
};

FigureRecipe read_figure_recipe(const ExperimentItem& item, const std::string& where) {
  JsonFields fields(item.recipe, where);
  FigureRecipe recipe;
  recipe.rows_per_domain = fields.whole("rows_per_domain", 10, 1'000'000);
  recipe.angle = fields.text("angle");
  JsonFields run(fields.object("run"), where + ", the run");
  recipe.run = read_boost_setting(run);
  run.finish();
  fields.finish();
  return recipe;
}

std::vector<CellName> check_figure(const ExperimentItem& item, const std::string& where) {
  const FigureRecipe recipe = read_figure_recipe(item, where);
  std::vector<CellName> cells;
  for (const char* row : {target_round, source_first, source_round, source_right, target_right})
    cells.emplace_back(row, recipe.angle);
  return cells;
}

/// A draw, its fit and both classifiers.
struct Boosted {
  MoonsDraw draw;
  BoostFit fit;
  StumpVote source, target;
};

Boosted boosted(const FigureRecipe& recipe, const Context& context) {
  Boosted result{draw_moons_problem(recipe.angle, recipe.rows_per_domain, fine_rows, context), {}, {}, {}};
  result.fit = fit_setting(result.draw, recipe.run, 0, false, context);
  const auto rounds = std::ssize(result.fit.rounds);
  result.source = StumpVote(result.fit.stumps(rounds), result.fit.alphas(rounds));
  result.target = StumpVote(result.fit.stumps(rounds), result.fit.betas(rounds));
  return result;
}

std::vector<double> by_round(const BoostFit& fit, double BoostRound::*loss) {
  std::vector<double> values;
  for (const BoostRound& round : fit.rounds) values.push_back(round.*loss);
  return values;
}

/// The values of the cells on one draw.
std::vector<double> figure_values(const FigureRecipe& recipe, const Context& context) {
  const Boosted one = boosted(recipe, context);
  // The source distribution is that of a target that is not rotated.
  const MoonsDraw still = draw_moons_problem("0", 10, fine_rows, context);
  const std::vector<double> source_loss = by_round(one.fit, &BoostRound::err_source);
  return {zero_from(by_round(one.fit, &BoostRound::loss_target)), first_zero(source_loss), zero_from(source_loss),
          100 - wrong_percent(one.source.values(Features::dense(still.test), context), still.y_test),
          100 - wrong_percent(one.target.values(Features::dense(one.draw.test), context), one.draw.y_test)};
}

std::vector<Cell> run_figure(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const FigureRecipe recipe = read_figure_recipe(item, item.name);
  const auto run = [&](std::size_t, const Context& own) { return figure_values(recipe, own); };
  const auto draws = run_repetitions<std::vector<double>>(item, {{recipe.angle}}, options, 0, context, run);
  return cells_of(check_figure(item, item.name), draws);
}

RegionMap map_of(const StumpVote& vote, const Matrix& points, const std::vector<double>& classes, const Matrix& all) {
  RegionMap map;
  map.points = points;
  map.classes = classes;
  const double room = 0.2;
  map.left = all.col(0).minCoeff() - room;
  map.right = all.col(0).maxCoeff() + room;
  map.bottom = all.col(1).minCoeff() - room;
  map.top = all.col(1).maxCoeff() + room;
  map.score.resize(map_cells, map_cells);
  for (Index r = 0; r < map_cells; ++r) {
    for (Index c = 0; c < map_cells; ++c) {
      const double cell[] = {
          map.left + (static_cast<double>(c) + 0.5) / static_cast<double>(map_cells) * (map.right - map.left),
          map.bottom + (static_cast<double>(r) + 0.5) / static_cast<double>(map_cells) * (map.top - map.bottom)};
      map.score(r, c) = vote.value(cell);
    }
  }
  return map;
}

Figures draw_boost(const ExperimentItem& item, const std::vector<Cell>&, const ReproduceOptions&,
                   const Context& context) {
  const FigureRecipe recipe = read_figure_recipe(item, item.name);
  const Boosted one = boosted(recipe, repetition_context(recipe.angle, 0, context));
  LineChart chart{
      .name = "losses",
      .title = "Losses against rounds, " + recipe.angle + " degrees",
      .x_title = "round",
      .y_title = "share of rows",
      .lines = {{"source loss", {}}, {"target loss", {}}, {"target error (labels not used in fitting)", {}}}};
  chart.lines[0].values = by_round(one.fit, &BoostRound::err_source);
  chart.lines[1].values = by_round(one.fit, &BoostRound::loss_target);
  for (const double error : target_errors(one.fit, one.draw)) chart.lines[2].values.push_back(error / 100);
  const Matrix all = one.draw.both();
  RegionMap source = map_of(one.source, one.draw.source, one.draw.y, all);
  source.name = "source_region";
  source.title = "Source classifier and source rows, " + recipe.angle + " degrees";
  RegionMap target = map_of(one.target, one.draw.target, one.draw.y_target, all);
  target.name = "target_region";
  target.title = "Target classifier and target rows, " + recipe.angle + " degrees";
  return {{std::move(chart)}, {std::move(source), std::move(target)}};
}

}  // namespace

ExperimentKind boost_figure_kind() {
  return {.name = "boost_figure",
          .reads_data = false,
          .matrix = false,
          .check = check_figure,
          .run = run_figure,
          .draw = draw_boost};
}

}  // namespace ecotone
