#include <algorithm>
#include <cmath>
#include <numbers>

#include "ecotone/base/error.h"
#include "ecotone/reproduce/kinds/logistic_examples.h"
#include "ecotone/reproduce/kinds/logistic_parts.h"
#include "ecotone/reproduce/repetitions.h"

namespace ecotone {

namespace {

constexpr const char* draws_part = "draws";

struct ConceptColumn {
  std::string name;
  double l2 = 0;
  bool penalise_offset = false;
};

struct ConceptRecipe {
  Index rows = 0;  ///< of each domain
  double step = 0;
  int epochs = 0;
  double good = 0;  ///< an error in per cent
  std::vector<ConceptColumn> columns;
};

ConceptRecipe read_concept_recipe(const ExperimentItem& item, const std::string& where) {
  JsonFields fields(item.recipe, where);
  ConceptRecipe recipe;
  recipe.rows = fields.whole("rows", 2, 1'000'000);
  recipe.step = fields.positive("step");
  recipe.epochs = fields.whole("epochs", 1, 100'000);
  recipe.good = fields.number("good");
  for (const Json& json : fields.list("columns")) {
    JsonFields column(json, where + ", a column");
    ConceptColumn& read = recipe.columns.emplace_back();
    read.name = column.text("column");
    read.l2 = column.positive("l2");
    if (column.has("penalise_offset")) read.penalise_offset = column.flag("penalise_offset");
    column.finish();
  }
  fields.finish();
  return recipe;
}

constexpr const char* correlation_row = "correlation of the error with the angle";

/// The rows of one column but the correlation, in the order of concept_values.
std::vector<std::string> concept_rows(const ConceptRecipe& recipe) {
  return {"target error, %", "weighted less unweighted, points",
          "norm of w*",      "norm of w^x",
          "size of theta^x", fmt::format("draws with at most {}% error, %", recipe.good)};
}

std::vector<CellName> check_concept(const ExperimentItem& item, const std::string& where) {
  const ConceptRecipe recipe = read_concept_recipe(item, where);
  std::vector<CellName> cells;
  for (const ConceptColumn& column : recipe.columns) {
    for (const std::string& row : concept_rows(recipe)) cells.emplace_back(row, column.name);
    cells.emplace_back(correlation_row, column.name);
  }
  return cells;
}

/// Source and target rows in the plane, each labelled by a model of its own (59.67).
struct TwoModels {
  Vector source_model, target_model;
  Matrix source, target;
  std::vector<std::int32_t> y, y_target;
};

TwoModels draw_two_models(const ConceptRecipe& recipe, const Context& context) {
  constexpr Index features = 2;
  TwoModels draw;
  Random random = context.random("rows");
  const auto fill = [&](Vector& model, Matrix& x, std::vector<std::int32_t>& y) {
    model.resize(features);
    for (double& value : model) value = random.normal();
    x.resize(recipe.rows, features);
    for (Index i = 0; i < x.rows(); ++i) {
      for (Index j = 0; j < features; ++j) x(i, j) = random.normal();
      y.push_back(x.row(i).dot(model) >= 0);
    }
  };
  fill(draw.source_model, draw.source, draw.y);
  fill(draw.target_model, draw.target, draw.y_target);
  return draw;
}

LogisticSteps trained(const Matrix& x, const std::vector<std::int32_t>& cls, const Vector& weight,
                      const SgdOptions& options, int epochs, const Context& context) {
  LogisticSteps steps(x, cls, weight, options);
  const std::vector<Index> rows = first_rows(x.rows());
  for (int epoch = 0; epoch < epochs; ++epoch) {
    Random random = context.random("epoch", static_cast<std::uint64_t>(epoch));
    steps.pass(rows, random);
  }
  return steps;
}

/// The classifier of source against target and its weights of the source rows (59.61).
struct SourceWeights {
  Vector domain_model;
  double offset = 0;
  Vector weight;
};

SourceWeights source_weights(const ConceptRecipe& recipe, const ConceptColumn& column, const TwoModels& draw,
                             const Context& context) {
  Matrix both(2 * recipe.rows, draw.source.cols());
  both << draw.source, draw.target;
  std::vector<std::int32_t> is_source(at(both.rows()), 0);
  std::fill_n(is_source.begin(), recipe.rows, 1);
  const LogisticSteps steps =
      trained(both, is_source, {}, plain_steps(recipe.step, column.l2, true, column.penalise_offset), recipe.epochs,
              context.derived("domains", 0));
  SourceWeights result{steps.weights(), steps.offset(), Vector(recipe.rows)};
  for (Index i = 0; i < recipe.rows; ++i)
    result.weight[i] = std::exp(-(draw.source.row(i).dot(result.domain_model) + result.offset));
  return result;
}

Vector source_classifier(const ConceptRecipe& recipe, const ConceptColumn& column, const TwoModels& draw,
                         const Vector& weight, const Context& context) {
  return trained(draw.source, draw.y, weight, plain_steps(recipe.step, column.l2, false, false), recipe.epochs,
                 context.derived("labels", 0))
      .weights();
}

/// Percentage of target rows that get the wrong label.
double target_error(const Vector& w, const TwoModels& draw) {
  Index wrong = 0;
  for (Index i = 0; i < draw.target.rows(); ++i)
    wrong += (draw.target.row(i).dot(w) >= 0) != (draw.y_target[at(i)] == 1);
  return 100.0 * static_cast<double>(wrong) / static_cast<double>(draw.target.rows());
}

std::vector<double> concept_values(const ConceptRecipe& recipe, const ConceptColumn& column, const TwoModels& draw,
                                   const Context& context) {
  const SourceWeights weights = source_weights(recipe, column, draw, context);
  const Vector w = source_classifier(recipe, column, draw, weights.weight, context);
  const double error = target_error(w, draw);
  const double plain = target_error(source_classifier(recipe, column, draw, {}, context), draw);
  return {error,
          error - plain,
          w.norm(),
          weights.domain_model.norm(),
          std::abs(weights.offset),
          error <= recipe.good ? 100.0 : 0.0};
}

/// The values of every column, and the angle between the two models as a share of 180 degrees.
struct ConceptDraw {
  std::vector<std::vector<double>> columns;
  double angle = 0;
};

template <class Archive>
void archive(Archive& with, ConceptDraw& draw) {
  with(draw.columns, draw.angle);
}

/// Correlation over draws without one of them.
double correlation(const std::vector<double>& a, const std::vector<double>& b, Index left_out) {
  double n = 0, sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (static_cast<Index>(i) == left_out) continue;
    n += 1;
    sum_a += a[i];
    sum_b += b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
    ab += a[i] * b[i];
  }
  const double spread = (aa - sum_a * sum_a / n) * (bb - sum_b * sum_b / n);
  return spread > 0 ? (ab - sum_a * sum_b / n) / std::sqrt(spread) : 0;
}

std::vector<Cell> run_concept(const ExperimentItem& item, const ReproduceOptions& options, const Context& context) {
  const ConceptRecipe recipe = read_concept_recipe(item, item.name);
  const auto run = [&](std::size_t, const Context& own) {
    const TwoModels draw = draw_two_models(recipe, own);
    ConceptDraw result;
    result.angle = std::acos(std::clamp(cosine(draw.source_model, draw.target_model), -1.0, 1.0)) / std::numbers::pi;
    for (const ConceptColumn& column : recipe.columns)
      result.columns.push_back(concept_values(recipe, column, draw, own));
    return result;
  };
  const auto draws = run_repetitions<ConceptDraw>(item, {{draws_part}}, options, 0, context, run);
  std::vector<double> angle;
  for (const ConceptDraw& draw : draws) angle.push_back(draw.angle);
  std::vector<Cell> cells;
  for (std::size_t c = 0; c < recipe.columns.size(); ++c) {
    std::vector<std::vector<double>> values;
    std::vector<double> errors;
    for (const ConceptDraw& draw : draws) {
      values.push_back(draw.columns[c]);
      errors.push_back(draw.columns[c].front());
    }
    std::vector<CellName> names;
    for (const std::string& row : concept_rows(recipe)) names.emplace_back(row, recipe.columns[c].name);
    std::ranges::move(cells_of(names, values), std::back_inserter(cells));
    cells.push_back({correlation_row, recipe.columns[c].name, jackknife(std::ssize(draws), [&](Index left_out) {
                       return correlation(errors, angle, left_out);
                     })});
  }
  return cells;
}

/// Figure 59.12, of the first draw and the first column.
Figures draw_concept(const ExperimentItem& item, const std::vector<Cell>&, const ReproduceOptions&,
                     const Context& context) {
  const ConceptRecipe recipe = read_concept_recipe(item, item.name);
  const Context own = repetition_context(draws_part, 0, context);
  const TwoModels draw = draw_two_models(recipe, own);
  const ConceptColumn& column = recipe.columns.front();
  const Vector w = source_classifier(recipe, column, draw, source_weights(recipe, column, draw, own).weight, own);
  const std::vector<Index> rows = first_rows(recipe.rows);
  const std::vector<std::string> names{"class +1", "class -1"};
  const auto chart = [&](std::string name, std::string title, std::vector<ScatterChart::Group> groups) {
    return ScatterChart{.name = std::move(name),
                        .title = std::move(title),
                        .x_title = "h1",
                        .y_title = "h2",
                        .groups = std::move(groups)};
  };
  const auto by_label = [](const std::vector<std::int32_t>& y) {
    return [&y](Index row) { return y[at(row)] == 1 ? 0 : 1; };
  };
  const auto by_sign = [&](Index row) { return draw.target.row(row).dot(w) >= 0 ? 0 : 1; };
  Figures figures;
  figures.scatters = {
      chart("figure_59_12_source", "Source rows and their labels",
            class_groups(draw.source, rows, by_label(draw.y), names)),
      chart("figure_59_12_target", "Target rows and their labels, which are not used",
            class_groups(draw.target, rows, by_label(draw.y_target), names)),
      chart("figure_59_12_unlabelled", "Target rows as the method sees them", {{"no label", draw.target}}),
      chart("figure_59_12_predicted", fmt::format("Labels that the method gives, {:.0f}% wrong", target_error(w, draw)),
            class_groups(draw.target, rows, by_sign, names))};
  figures.scatters.front().segments = {boundary_line("classifier", w, 0, draw.source)};
  figures.scatters.back().segments = {boundary_line("classifier", w, 0, draw.target)};
  return figures;
}

}  // namespace

ExperimentKind concept_shift_kind() {
  return {.name = "concept_shift",
          .reads_data = false,
          .matrix = false,
          .check = check_concept,
          .run = run_concept,
          .draw = draw_concept};
}

}  // namespace ecotone
