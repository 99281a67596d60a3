#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/reproduce/kinds/logistic_examples.h"
#include "ecotone/reproduce/kinds/logistic_parts.h"
#include "ecotone/reproduce/repetitions.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

namespace {

constexpr const char* binary_column = "setosa";
constexpr std::size_t drawn_iterations = 30;

struct BinaryRecipe {
  Index test = 0;
  double step = 0;
  int epochs = 0;
  std::vector<int> watched;
};

BinaryRecipe read_binary_recipe(const ExperimentItem& item, const std::string& where) {
  JsonFields fields(item.recipe, where);
  BinaryRecipe recipe;
  recipe.test = fields.whole("test", 1, 149);
  recipe.step = fields.positive("step");
  recipe.epochs = fields.whole("epochs", 1, 10'000);
  recipe.watched = fields.wholes("watched", 1, static_cast<int>(150 - recipe.test));
  fields.finish();
  return recipe;
}

std::vector<CellName> check_binary(const ExperimentItem& item, const std::string& where) {
  const BinaryRecipe recipe = read_binary_recipe(item, where);
  std::vector<CellName> cells{{"test errors", binary_column}, {"splits without a test error, %", binary_column}};
  for (const char* rows : {"training", "test"})
    for (const int count : recipe.watched)
      cells.emplace_back(fmt::format("all {} rows right within {} iterations, %", rows, count), binary_column);
  return cells;
}

/// One split: the classifier, and its accuracy after every iteration of the first epoch.
struct BinaryRun {
  IrisSplit split;
  Vector weights;
  double offset = 0;
  std::vector<double> train_accuracy, test_accuracy;
};

double accuracy(const LogisticSteps& steps, const ReducedIris& iris, const std::vector<Index>& rows) {
  const Vector w = steps.weights();
  Index right = 0;
  for (const Index row : rows) right += (iris.x.row(row).dot(w) + steps.offset() >= 0) == (iris.label()[at(row)] == 0);
  return static_cast<double>(right) / static_cast<double>(rows.size());
}

BinaryRun run_split(const BinaryRecipe& recipe, const ReducedIris& iris, const Context& context) {
  BinaryRun run;
  run.split = split_iris(iris, recipe.test, context);
  std::vector<std::int32_t> setosa;
  for (const std::int32_t cls : iris.label()) setosa.push_back(cls == 0);
  LogisticSteps steps(iris.x, setosa, {}, plain_steps(recipe.step, 0, true, false));
  for (int epoch = 0; epoch < recipe.epochs; ++epoch) {
    Random random = context.random("order", static_cast<std::uint64_t>(epoch));
    if (epoch > 0) {
      steps.pass(run.split.train, random);
      continue;
    }
    for (const Index place : random.permutation(std::ssize(run.split.train))) {
      steps.step(run.split.train[at(place)]);
      run.train_accuracy.push_back(accuracy(steps, iris, run.split.train));
      run.test_accuracy.push_back(accuracy(steps, iris, run.split.test));
    }
  }
  run.weights = steps.weights();
  run.offset = steps.offset();
  return run;
}

Index test_errors(const BinaryRun& run, const ReducedIris& iris) {
  return std::ranges::count_if(run.split.test, [&](Index row) {
    return (iris.x.row(row).dot(run.weights) + run.offset >= 0) != (iris.label()[at(row)] == 0);
  });
}

/// The values of the cells on one split.
std::vector<double> binary_values(const BinaryRecipe& recipe, const ReducedIris& iris, const Context& context) {
  const BinaryRun run = run_split(recipe, iris, context);
  const auto errors = static_cast<double>(test_errors(run, iris));
  std::vector<double> values{errors, errors == 0 ? 100.0 : 0.0};
  for (const std::vector<double>* accuracies : {&run.train_accuracy, &run.test_accuracy})
    for (const int count : recipe.watched) {
      const auto end = accuracies->begin() + count;
      values.push_back(std::find(accuracies->begin(), end, 1.0) != end ? 100 : 0);
    }
  return values;
}

std::vector<Cell> run_binary(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const BinaryRecipe recipe = read_binary_recipe(item, item.name);
  const ReducedIris iris = read_iris(options.data, context.observed_by(nullptr));
  const auto run = [&](std::size_t, const Context& own) { return binary_values(recipe, iris, own); };
  const auto splits =
      run_repetitions<std::vector<double>>(item, {{binary_column, iris.digest}}, options, 0, context, run);
  return cells_of(check_binary(item, item.name), splits);
}

ScatterChart rows_with_line(const ReducedIris& iris, const std::vector<Index>& rows, const BinaryRun& run) {
  ScatterChart chart{.name = {},
                     .title = {},
                     .x_title = "first component",
                     .y_title = "second component",
                     .groups = class_groups(iris.x, rows, [&](Index row) { return iris.label()[at(row)] == 0 ? 0 : 1; },
                                            {"setosa", "versicolor and virginica"})};
  chart.segments = {boundary_line("separating line", run.weights, run.offset, iris.x)};
  return chart;
}

/// Figure 59.3, of the first split.
Figures draw_binary(const ExperimentItem& item, const std::vector<Cell>&, const ReproduceOptions& options,
                    const Context& context) {
  const BinaryRecipe recipe = read_binary_recipe(item, item.name);
  const ReducedIris iris = read_iris(options.data, context.observed_by(nullptr));
  BinaryRun run = run_split(recipe, iris, repetition_context(binary_column, 0, context));
  ScatterChart train = rows_with_line(iris, run.split.train, run);
  train.name = "figure_59_3_training";
  train.title = fmt::format("{} training rows and the separating line", run.split.train.size());
  ScatterChart test = rows_with_line(iris, run.split.test, run);
  test.name = "figure_59_3_test";
  test.title = fmt::format("{} test rows and the same line", run.split.test.size());
  for (std::vector<double>* values : {&run.train_accuracy, &run.test_accuracy}) {
    values->resize(std::min(values->size(), drawn_iterations));
    for (double& value : *values) value *= 100;
  }
  LineChart curve{.name = "figure_59_3_accuracy",
                  .title = "Accuracy in the first iterations",
                  .x_title = "iteration",
                  .y_title = "% of the rows",
                  .lines = {{"training rows", run.train_accuracy}, {"test rows", run.test_accuracy, true}}};
  curve.logarithmic = false;
  const auto likelihood = [&](Index row) {
    // (59.6): the probability of the row's own class
    const double score = iris.x.row(row).dot(run.weights) + run.offset;
    return sigmoid(iris.label()[at(row)] == 0 ? score : -score);
  };
  ScatterChart likelihoods =
      likelihood_chart(run.split.test, likelihood, [&](Index row) { return iris.label()[at(row)] == 0 ? 0 : 1; },
                       {"setosa", "versicolor and virginica"});
  likelihoods.name = "figure_59_3_likelihoods";
  likelihoods.title = "Probability of the true class";
  return {.charts = {std::move(curve)}, .scatters = {std::move(train), std::move(test), std::move(likelihoods)}};
}

}  // namespace

ExperimentKind logistic_binary_kind() {
  return {.name = "logistic_binary",
          .reads_data = true,
          .matrix = false,
          .check = check_binary,
          .run = run_binary,
          .draw = draw_binary};
}

}  // namespace ecotone
