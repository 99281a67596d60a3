#include "ecotone/reproduce/kinds/projections.h"

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/shift.h"
#include "ecotone/methods/model.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/reproduce/recipe_data.h"
#include "ecotone/reproduce/repetitions.h"
#include "ecotone/solve/neighbours/neighbours.h"

namespace ecotone {

namespace {

constexpr const char* projection_columns[] = {"distributional variance", "test mean shift", "KS", "R2"};
constexpr const char* projected_part = "draw";

struct ProjectedRow {
  std::string name, stages;
};

struct ProjectionsRecipe {
  GeneratedData data;
  int train_domains = 0, neighbours = 0;
  std::vector<ProjectedRow> rows;
  std::vector<std::string> drawn;
};

ProjectionsRecipe read_projections_recipe(const ExperimentItem& item, const std::string& where) {
  ProjectionsRecipe recipe;
  JsonFields fields(item.recipe, where);
  recipe.data = GeneratedData::read(fields);
  recipe.train_domains = fields.whole("train_domains", 1, 1'000'000);
  recipe.neighbours = fields.whole("neighbours", 1, 1'000'000);
  for (const Json& json : fields.list("rows")) {
    JsonFields row(json, where + ", a row");
    recipe.rows.push_back({row.text("row"), row.text("stages")});
    row.finish();
  }
  if (fields.has("drawn")) recipe.drawn = fields.texts("drawn");
  fields.finish();
  for (const std::string& name : recipe.drawn)
    if (std::ranges::find(recipe.rows, name, &ProjectedRow::name) == recipe.rows.end())
      file_error("bad_experiment", "{}: '{}' is to be drawn, but it is not a row", where, name);
  return recipe;
}

std::vector<CellName> check_projections(const ExperimentItem& item, const std::string& where) {
  const ProjectionsRecipe recipe = read_projections_recipe(item, where);
  try {
    recipe.data.check();
    for (const ProjectedRow& row : recipe.rows)
      if (Pipeline::parse(row.stages).stages().back().method->predicts())
        option_error("learner", "\"{}\" ends in a learner", row.stages);
  } catch (const Error& error) {
    file_error("bad_experiment", "{}: {}", where, error.what());
  }
  std::vector<CellName> cells;
  for (const char* column : projection_columns)
    for (const ProjectedRow& row : recipe.rows) cells.emplace_back(row.name, column);
  return cells;
}

/// A generated data set with its training rows.
struct ProjectionData {
  Dataset data;
  std::vector<std::vector<Index>> domains;
  std::vector<Index> train;
};

ProjectionData draw_data(const ProjectionsRecipe& recipe, const Context& context) {
  ProjectionData drawn{recipe.data.draw(context), {}, {}};
  const Dataset& data = drawn.data;
  if (!data.y || data.y->task != Task::regress)
    data_error("needs_numbers", "{}: kind projections needs numbers as labels", recipe.data.generator);
  if (data.domain.count() <= recipe.train_domains)
    data_error("too_few_domains", "{}: {} domains are to train and some to test, but there are {}",
               recipe.data.generator, recipe.train_domains, data.domain.count());
  for (Index d = 0; d < data.domain.count(); ++d) {
    drawn.domains.push_back(data.domain.rows_of(d));
    if (d < recipe.train_domains)
      drawn.train.insert(drawn.train.end(), drawn.domains.back().begin(), drawn.domains.back().end());
  }
  return drawn;
}

Matrix projected(const ProjectionData& drawn, const std::string& stages, const Context& context) {
  const Dataset& data = drawn.data;
  const Model model =
      Model::fit(Pipeline::parse(stages), train_view(data, drawn.train, {}, context), data.schema, context);
  return model.transform({data.x, data.domain}, context).to_matrix();
}

Eigen::RowVectorXd mean_of_rows(const Matrix& z, const std::vector<Index>& rows) {
  Eigen::RowVectorXd mean = Eigen::RowVectorXd::Zero(z.cols());
  for (const Index i : rows) mean += z.row(i);
  return mean / static_cast<double>(rows.size());
}

std::vector<double> sorted_column(const Matrix& z, const std::vector<Index>& rows, Index column) {
  std::vector<double> values;
  for (const Index i : rows) values.push_back(z(i, column));
  std::ranges::sort(values);
  return values;
}

/// R2 of the mean label of the nearest training rows.
double neighbour_r2(const Matrix& z, const ProjectionData& drawn, const std::vector<Index>& test, Index k,
                    const Context& context) {
  const Vector& y = drawn.data.y->value;
  const auto take = [&](const std::vector<Index>& rows) {
    Matrix taken(std::ssize(rows), z.cols());
    for (Index i = 0; i < taken.rows(); ++i) taken.row(i) = z.row(rows[at(i)]);
    return taken;
  };
  const Neighbours found = nearest_neighbours(take(test), take(drawn.train), k, Self::keep, context, "projections");
  Vector truth(std::ssize(test)), value = Vector::Zero(std::ssize(test));
  for (Index i = 0; i < truth.size(); ++i) {
    truth[i] = y[test[at(i)]];
    for (Index j = 0; j < k; ++j) value[i] += y[drawn.train[at(found.index(i, j))]] / static_cast<double>(k);
  }
  return r2(truth, value).value_or(0);
}

/// The columns' values for the projections of one draw.
std::vector<double> measures(const Matrix& z, const ProjectionData& drawn, int train_domains, Index k,
                             const Context& context) {
  const Eigen::RowVectorXd centre = mean_of_rows(z, drawn.train);
  double variance = 0;
  for (const Index i : drawn.train) variance += (z.row(i) - centre).squaredNorm();
  variance /= static_cast<double>(drawn.train.size());
  std::vector<Eigen::RowVectorXd> means;
  Eigen::RowVectorXd middle = Eigen::RowVectorXd::Zero(z.cols());
  for (const std::vector<Index>& rows : drawn.domains) {
    means.push_back(mean_of_rows(z, rows));
    middle += means.back() / static_cast<double>(drawn.domains.size());
  }
  double between = 0, shift = 0, distance = 0;
  for (const Eigen::RowVectorXd& mean : means)
    between += (mean - middle).squaredNorm() / static_cast<double>(means.size());
  std::vector<Index> test;
  const auto tests = static_cast<double>(drawn.domains.size()) - train_domains;
  for (std::size_t d = static_cast<std::size_t>(train_domains); d < drawn.domains.size(); ++d) {
    test.insert(test.end(), drawn.domains[d].begin(), drawn.domains[d].end());
    shift += (means[d] - centre).squaredNorm() / tests;
    for (Index c = 0; c < z.cols(); ++c)
      distance +=
          kolmogorov_smirnov(sorted_column(z, drawn.domains[d], c), sorted_column(z, drawn.train, c)).statistic /
          (tests * static_cast<double>(z.cols()));
  }
  return {between / variance, shift / variance, distance, neighbour_r2(z, drawn, test, k, context)};
}

std::vector<Cell> run_projections(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const ProjectionsRecipe recipe = read_projections_recipe(item, item.name);
  const auto run = [&](std::size_t, const Context& own) {
    const ProjectionData drawn = draw_data(recipe, own);
    std::vector<std::vector<double>> of_rows;
    for (const ProjectedRow& row : recipe.rows)
      of_rows.push_back(
          measures(projected(drawn, row.stages, own), drawn, recipe.train_domains, recipe.neighbours, own));
    std::vector<double> values;
    for (std::size_t c = 0; c < std::size(projection_columns); ++c)
      for (const std::vector<double>& row : of_rows) values.push_back(row[c]);
    return values;
  };
  return cells_of(check_projections(item, item.name),
                  run_repetitions<std::vector<double>>(item, {{projected_part}}, options, 0, context, run));
}

constexpr Index most_drawn = 600;  // points of each group

/// As exact as a picture is.
double short_number(double value) { return std::round(value * 1e3) / 1e3; }

/// The first repetition.
Figures draw_projections(const ExperimentItem& item, const std::vector<Cell>&, const ReproduceOptions&,
                         const Context& context) {
  const ProjectionsRecipe recipe = read_projections_recipe(item, item.name);
  const Context own = repetition_context(projected_part, 0, context);
  const ProjectionData drawn = draw_data(recipe, own);
  Figures figures;
  for (const ProjectedRow& row : recipe.rows) {
    if (std::ranges::find(recipe.drawn, row.name) == recipe.drawn.end()) continue;
    const Matrix z = projected(drawn, row.stages, own);
    if (z.cols() < 2) continue;
    ScatterChart chart{.name = fmt::format("projection_{}", figures.scatters.size() + 1),
                       .title = row.name,
                       .x_title = "first component",
                       .y_title = "second component",
                       .groups = {}};
    const auto add = [&](std::string name, const std::vector<Index>& all) {
      const std::vector<Index> rows = spread_over(all, most_drawn);
      ScatterChart::Group& group = chart.groups.emplace_back(ScatterChart::Group{std::move(name), {}, {}});
      group.points.resize(std::ssize(rows), 2);
      for (Index i = 0; i < group.points.rows(); ++i) {
        for (Index c = 0; c < 2; ++c) group.points(i, c) = short_number(z(rows[at(i)], c));
        group.value.push_back(short_number(drawn.data.y->value[rows[at(i)]]));
      }
    };
    add("training domains", drawn.train);
    for (std::size_t d = static_cast<std::size_t>(recipe.train_domains); d < drawn.domains.size(); ++d)
      add(fmt::format("unseen {}", drawn.data.domain.names[d]), drawn.domains[d]);
    figures.scatters.push_back(std::move(chart));
  }
  return figures;
}

}  // namespace

ExperimentKind projections_kind() {
  return {.name = "projections",
          .reads_data = false,
          .matrix = false,
          .check = check_projections,
          .run = run_projections,
          .draw = draw_projections};
}

}  // namespace ecotone
