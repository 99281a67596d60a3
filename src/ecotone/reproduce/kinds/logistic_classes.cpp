#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/methods/model.h"
#include "ecotone/reproduce/kinds/logistic_examples.h"
#include "ecotone/reproduce/kinds/logistic_parts.h"
#include "ecotone/reproduce/repetitions.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

namespace {

constexpr const char* printed_distance = "rms distance from the 18 printed coefficients";
constexpr const char* part_name = "splits";
constexpr Index coefficients = 9;  ///< of three problems

struct ClassesRecipe {
  bool pairs = false;  ///< one versus one
  Index test = 0;
  std::vector<std::pair<std::string, std::string>> columns;  ///< names and pipelines
  std::string printed_in;                                    ///< the experiment that has the printed coefficients

  std::string pipeline(std::size_t column, bool in_pairs) const {
    return columns[column].second + (in_pairs ? " multiclass=ovo" : " multiclass=ova");
  }
};

/// One of the three binary problems: its class +1 and the classes -1.
struct BinaryProblem {
  std::string name;
  std::int32_t positive;
  std::vector<std::int32_t> negative;

  bool has(std::int32_t cls) const { return cls == positive || std::ranges::count(negative, cls) > 0; }
};

std::vector<BinaryProblem> problems_of(bool pairs) {
  if (pairs) return {{"01", 0, {1}}, {"02", 0, {2}}, {"12", 1, {2}}};
  return {{"0|12", 0, {1, 2}}, {"1|02", 1, {0, 2}}, {"2|01", 2, {0, 1}}};
}

ClassesRecipe read_classes_recipe(const ExperimentItem& item, const std::string& where) {
  JsonFields fields(item.recipe, where);
  ClassesRecipe recipe;
  const std::string split = fields.text("multiclass");
  if (split != "ova" && split != "ovo")
    file_error("bad_experiment", "{}: field 'multiclass' must be ova or ovo, got '{}'", where, split);
  recipe.pairs = split == "ovo";
  recipe.test = fields.whole("test", 1, 140);
  for (const Json& json : fields.list("columns")) {
    JsonFields column(json, where + ", a column");
    recipe.columns.emplace_back(column.text("column"), column.text("pipeline"));
    column.finish();
  }
  recipe.printed_in = fields.text("printed_in");
  fields.finish();
  for (std::size_t c = 0; c < recipe.columns.size(); ++c) {
    try {
      const Pipeline pipeline = Pipeline::parse(recipe.pipeline(c, recipe.pairs));
      if (pipeline.stages().size() != 1 || pipeline.stages().front().method->name != "logistic")
        option_error("bad_option", "\"{}\" must be logistic alone", pipeline.text());
    } catch (const Error& error) {
      file_error("bad_experiment", "{}: {}", where, error.what());
    }
  }
  return recipe;
}

std::vector<std::string> coefficient_rows(bool pairs) {
  std::vector<std::string> rows;
  for (const BinaryProblem& problem : problems_of(pairs))
    for (const char* name : {"-theta", "w1", "w2"}) rows.push_back(fmt::format("{} {}", name, problem.name));
  return rows;
}

/// The rows of one column but the last, in the order of classes_values.
std::vector<std::string> classes_rows(const ClassesRecipe& recipe) {
  std::vector<std::string> rows = coefficient_rows(recipe.pairs);
  for (const BinaryProblem& problem : problems_of(recipe.pairs))
    rows.push_back(fmt::format("training errors {}, %", problem.name));
  rows.emplace_back("test errors");
  return rows;
}

std::vector<CellName> check_classes(const ExperimentItem& item, const std::string& where) {
  const ClassesRecipe recipe = read_classes_recipe(item, where);
  std::vector<CellName> cells;
  for (const auto& [column, pipeline] : recipe.columns) {
    for (const std::string& row : classes_rows(recipe)) cells.emplace_back(row, column);
    cells.emplace_back(printed_distance, column);
  }
  return cells;
}

/// The classifiers of one split.
struct ClassesRun {
  IrisSplit split;
  Matrix w;                             ///< a row (-theta, w1, w2) for each problem
  std::vector<std::int32_t> predicted;  ///< classes of the test rows

  double score(Index problem, const ReducedIris& iris, Index row) const {
    return w(problem, 0) + w(problem, 1) * iris.x(row, 0) + w(problem, 2) * iris.x(row, 1);
  }
};

ClassesRun run_classes_split(const ClassesRecipe& recipe, std::size_t column, bool pairs, const ReducedIris& iris,
                             const Context& context) {
  ClassesRun run;
  run.split = split_iris(iris, recipe.test, context);
  const TrainView view = train_view(iris.data, run.split.train, {}, context);
  if (view.y.classes.size() != 3) data_error("one_class", "iris: a class has no training row; use fewer test rows");
  const Model model = Model::fit(Pipeline::parse(recipe.pipeline(column, pairs)), view, iris.data.schema, context);
  const Json stage = model.inspect()["stages"][0];
  run.w.resize(3, 3);
  for (Index k = 0; k < 3; ++k) {
    const Json& weights = stage[fmt::format("binary{}/weights", k)];
    run.w.row(k) << stage["binary"][at(k)]["offset"].get<double>(), weights[0].get<double>(), weights[1].get<double>();
  }
  run.predicted = model.predict(batch(iris.data, run.split.test), context).index;
  return run;
}

/// Percentage of a problem's training rows on the wrong side.
double training_errors(const ClassesRun& run, const ReducedIris& iris, const BinaryProblem& problem, Index k) {
  Index rows = 0, wrong = 0;
  for (const Index row : run.split.train) {
    const std::int32_t cls = iris.label()[at(row)];
    if (!problem.has(cls)) continue;
    ++rows;
    wrong += (run.score(k, iris, row) >= 0) != (cls == problem.positive);
  }
  return 100.0 * static_cast<double>(wrong) / static_cast<double>(rows);
}

/// The values of the cells of one column, and then the coefficients of the other way to split the classes.
std::vector<double> classes_values(const ClassesRecipe& recipe, std::size_t column, const ReducedIris& iris,
                                   const Context& context) {
  const ClassesRun run = run_classes_split(recipe, column, recipe.pairs, iris, context);
  std::vector<double> values(run.w.data(), run.w.data() + run.w.size());
  const std::vector<BinaryProblem> problems = problems_of(recipe.pairs);
  for (std::size_t k = 0; k < problems.size(); ++k)
    values.push_back(training_errors(run, iris, problems[k], static_cast<Index>(k)));
  double wrong = 0;
  for (std::size_t i = 0; i < run.split.test.size(); ++i)
    wrong += run.predicted[i] != iris.label()[at(run.split.test[i])];
  values.push_back(wrong);
  const Matrix other = run_classes_split(recipe, column, !recipe.pairs, iris, context).w;
  values.insert(values.end(), other.data(), other.data() + other.size());
  return values;
}

/// The first and the last coefficients of classes_values.
Vector all_coefficients(const std::vector<double>& values) {
  Vector all(2 * coefficients);
  all << Eigen::Map<const Vector>(values.data(), coefficients),
      Eigen::Map<const Vector>(values.data() + values.size() - coefficients, coefficients);
  return all;
}

/// What is printed for them.
Vector printed_coefficients(const ClassesRecipe& recipe, const std::string& column) {
  std::vector<std::string> rows = coefficient_rows(recipe.pairs);
  std::ranges::move(coefficient_rows(!recipe.pairs), std::back_inserter(rows));
  const std::vector<Published> published = experiment(recipe.printed_in).published;
  Vector printed(2 * coefficients);
  for (Index i = 0; i < printed.size(); ++i) {
    const auto found = std::ranges::find_if(
        published, [&](const Published& one) { return one.row == rows[at(i)] && one.column == column; });
    if (found == published.end())
      file_error("bad_experiment", "{}: there is no number for '{}' of '{}'", recipe.printed_in, rows[at(i)], column);
    printed[i] = found->value;
  }
  return printed;
}

/// How far the mean coefficients of some splits lie from the printed ones.
std::vector<double> printed_distances(const Vector& printed, const std::vector<std::vector<double>>& splits) {
  Vector sum = Vector::Zero(printed.size());
  for (const std::vector<double>& values : splits) sum += all_coefficients(values);
  return jackknife(std::ssize(splits), [&](Index left_out) {
    Vector mean = sum;
    if (left_out >= 0) mean -= all_coefficients(splits[at(left_out)]);
    mean /= static_cast<double>(std::ssize(splits) - (left_out >= 0 ? 1 : 0));
    return std::sqrt((mean - printed).squaredNorm() / static_cast<double>(printed.size()));
  });
}

/// All columns of one split.
using ColumnValues = std::vector<std::vector<double>>;

std::vector<Cell> run_classes(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const ClassesRecipe recipe = read_classes_recipe(item, item.name);
  const ReducedIris iris = read_iris(options.data, context.observed_by(nullptr));
  const auto run = [&](std::size_t, const Context& own) {
    ColumnValues values;
    for (std::size_t c = 0; c < recipe.columns.size(); ++c) values.push_back(classes_values(recipe, c, iris, own));
    return values;
  };
  const auto splits = run_repetitions<ColumnValues>(item, {{part_name, iris.digest}}, options, 0, context, run);
  std::vector<Cell> cells;
  for (std::size_t c = 0; c < recipe.columns.size(); ++c) {
    std::vector<std::vector<double>> own;
    for (const ColumnValues& values : splits) own.push_back(values[c]);
    std::vector<CellName> names;
    for (const std::string& row : classes_rows(recipe)) names.emplace_back(row, recipe.columns[c].first);
    std::ranges::move(cells_of(names, own), std::back_inserter(cells));
    const Vector printed = printed_coefficients(recipe, recipe.columns[c].first);
    cells.push_back({printed_distance, recipe.columns[c].first, printed_distances(printed, own)});
  }
  return cells;
}

// ---- pictures: of the first split and the first column

ScatterChart components_chart(std::string name, std::string title, std::vector<ScatterChart::Group> groups) {
  return {.name = std::move(name),
          .title = std::move(title),
          .x_title = "first component",
          .y_title = "second component",
          .groups = std::move(groups)};
}

/// The training rows of a problem and its line.
ScatterChart problem_chart(const ClassesRun& run, const ReducedIris& iris, const BinaryProblem& problem, Index k,
                           const std::string& figure) {
  std::vector<Index> rows;
  std::ranges::copy_if(run.split.train, std::back_inserter(rows),
                       [&](Index row) { return problem.has(iris.label()[at(row)]); });
  const std::string positive = fmt::format("class {}", problem.positive);
  const std::string negative = fmt::format("class {}", fmt::join(problem.negative, " and "));
  ScatterChart chart = components_chart(
      fmt::format("{}_class_{}_against_{}", figure, problem.positive, fmt::join(problem.negative, "_")),
      fmt::format("Training rows: {} against {}", positive, negative),
      class_groups(iris.x, rows, [&](Index row) { return iris.label()[at(row)] == problem.positive ? 0 : 1; },
                   {positive, negative}));
  const Vector weights = run.w.row(k).tail(2).transpose();
  chart.segments = {boundary_line("separating line", weights, run.w(k, 0), iris.x)};
  return chart;
}

/// The test rows by predicted class; wrong ones are a group of their own.
ScatterChart predicted_chart(const ClassesRun& run, const ReducedIris& iris, const std::string& name) {
  std::vector<Index> places = first_rows(std::ssize(run.split.test));
  Index wrong = 0;
  const auto group = [&](Index i) {
    return run.predicted[at(i)] == iris.label()[at(run.split.test[at(i)])] ? run.predicted[at(i)] : 3;
  };
  for (const Index i : places) wrong += group(i) == 3;
  return components_chart(name, fmt::format("Predicted classes of the test rows, {} wrong of {}", wrong, places.size()),
                          class_groups(plane_points(iris.x, run.split.test), places, group,
                                       {"class 0, right", "class 1, right", "class 2, right", "wrong"}));
}

Figures draw_classes(const ExperimentItem& item, const std::vector<Cell>&, const ReproduceOptions& options,
                     const Context& context) {
  const ClassesRecipe recipe = read_classes_recipe(item, item.name);
  const ReducedIris iris = read_iris(options.data, context.observed_by(nullptr));
  const ClassesRun run = run_classes_split(recipe, 0, recipe.pairs, iris, repetition_context(part_name, 0, context));
  const std::vector<std::string> names{"class 0 (setosa)", "class 1 (versicolor)", "class 2 (virginica)"};
  const auto cls = [&](Index row) { return iris.label()[at(row)]; };
  Figures figures;
  if (recipe.pairs)
    figures.scatters.push_back(components_chart("figure_59_9", "Training rows of the three classes",
                                                class_groups(iris.x, run.split.train, cls, names)));
  else
    figures.scatters.push_back(components_chart("figure_59_5", "All rows of the three classes",
                                                class_groups(iris.x, first_rows(iris.x.rows()), cls, names)));
  const std::string lines = recipe.pairs ? "figure_59_10" : "figure_59_6";
  const std::vector<BinaryProblem> problems = problems_of(recipe.pairs);
  for (std::size_t k = 0; k < problems.size(); ++k)
    figures.scatters.push_back(problem_chart(run, iris, problems[k], static_cast<Index>(k), lines));
  figures.scatters.push_back(
      components_chart(lines + "_test", "Test rows", class_groups(iris.x, run.split.test, cls, names)));
  figures.scatters.push_back(
      predicted_chart(run, iris, recipe.pairs ? "figure_59_10_predicted" : "figure_59_7_predicted"));
  if (recipe.pairs) return figures;
  const auto largest = [&](Index row) {
    return sigmoid(std::max({run.score(0, iris, row), run.score(1, iris, row), run.score(2, iris, row)}));
  };
  ScatterChart likelihoods = likelihood_chart(run.split.test, largest, cls, names);
  likelihoods.name = "figure_59_7_likelihoods";
  likelihoods.title = "Largest likelihood of each test row";
  figures.scatters.push_back(std::move(likelihoods));
  return figures;
}

}  // namespace

ExperimentKind logistic_classes_kind() {
  return {.name = "logistic_classes",
          .reads_data = true,
          .matrix = false,
          .check = check_classes,
          .run = run_classes,
          .draw = draw_classes};
}

}  // namespace ecotone
