#include "ecotone/evaluate/whole_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/json.h"
#include "ecotone/methods/model.h"

namespace ecotone {
namespace {

constexpr Index most_looked_at = 2000;  // rows
constexpr Index most_shown_features = 20'000;
constexpr std::size_t most_rounds = 2000;
constexpr Index cells = 80;         // of a grid, in each direction
constexpr Index most_points = 400;  // on top of it

/// Between codes of categories there is nothing to draw.
bool draws_regions(const Dataset& data) {
  return data.x.cols() == 2 && data.y->task == Task::classify && !data.schema.has_codes();
}

/// A list of numbers under this name; empty if there is none.
std::vector<double> numbers_of(const Json& stage, const char* name) {
  if (!stage.contains(name) || !stage[name].is_array()) return {};
  const Json& list = stage[name];
  if (!std::ranges::all_of(list, [](const Json& value) { return value.is_number(); })) return {};
  return list.get<std::vector<double>>();
}

/// Where the features of the weights are among those that the learner sees: all of them or, of a selector, those that
/// it took, which it names by their places in the data. Empty if they cannot be found.
std::vector<Index> weighted_features(const Json& stage, std::size_t weights, const Features& seen,
                                     const Features& given) {
  const std::vector<double> taken =
      stage.contains("support") ? numbers_of(stage, "support") : numbers_of(stage, "indices");
  std::vector<Index> places;
  if (taken.size() != weights) {
    for (Index j = 0; j < seen.cols() && static_cast<Index>(weights) == seen.cols(); ++j) places.push_back(j);
    return places;
  }
  const std::vector<std::string> names = seen.names();
  for (const double place : taken) {
    if (!(place >= 0 && place < static_cast<double>(given.cols()))) return {};
    const auto found = std::ranges::find(names, given.name(static_cast<Index>(place)));
    if (found == names.end()) return {};
    places.push_back(found - names.begin());
  }
  return places;
}

std::vector<FeatureEffect> effects_of(const Json& stage, const Features& seen, const Features& given) {
  // Weights of a low-rank map are those of landmarks, not of features.
  const bool mapped = stage.contains("row_landmarks") || (stage.contains("route") && stage["route"] == "low_rank");
  const std::vector<double> weights = mapped ? std::vector<double>() : numbers_of(stage, "weights");
  if (seen.cols() > most_shown_features) return {};
  const std::vector<Index> places = weighted_features(stage, weights.size(), seen, given);
  if (weights.empty() || places.size() != weights.size()) return {};
  const Matrix x = seen.to_matrix();
  std::vector<FeatureEffect> effects;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto column = x.col(places[k]);
    const double sd = std::sqrt((column.array() - column.mean()).square().mean());
    effects.push_back({seen.name(places[k]), weights[k], weights[k] * sd});
  }
  std::ranges::stable_sort(effects, std::ranges::greater{},
                           [](const FeatureEffect& effect) { return std::abs(effect.per_deviation); });
  return effects;
}

std::vector<BoostingLine> history_of(const Json& stage) {
  std::vector<double> values = numbers_of(stage, "err_source");
  if (!stage.contains("alpha") || values.empty() || values.size() > most_rounds) return {};
  return {{"error on the training rows", std::move(values)}};
}

/// From the smallest to the largest value, with a little room.
std::pair<double, double> range_of(const Vector& values) {
  const double low = values.minCoeff(), high = values.maxCoeff();
  const double room = high > low ? 0.05 * (high - low) : 1;
  return {low - room, high + room};
}

std::optional<DecisionRegions> regions_of(const Model& model, const Dataset& data, const std::vector<Index>& rows,
                                          const Context& context) {
  if (!draws_regions(data) || model.needs_domain_sample()) return {};
  const Matrix x = data.x.copy(rows);
  if (!x.allFinite()) return {};
  DecisionRegions regions;
  regions.x_name = data.x.name(0);
  regions.y_name = data.x.name(1);
  std::tie(regions.left, regions.right) = range_of(x.col(0));
  std::tie(regions.bottom, regions.top) = range_of(x.col(1));
  Matrix grid(cells * cells, 2);
  for (Index r = 0; r < cells; ++r)
    for (Index c = 0; c < cells; ++c) {
      const auto middle = [](Index cell) { return (static_cast<double>(cell) + 0.5) / cells; };
      grid(r * cells + c, 0) = regions.left + (regions.right - regions.left) * middle(c);
      grid(r * cells + c, 1) = regions.bottom + (regions.top - regions.bottom) * middle(r);
    }
  const Prediction answers = model.predict({Features::dense(std::move(grid), data.x.names()), {}, {}}, context);
  for (Index r = 0; r < cells; ++r) {
    regions.cells.emplace_back();
    for (Index c = 0; c < cells; ++c) regions.cells.back().push_back(answers.index[at(r * cells + c)]);
  }
  for (const Index i : spread_over(rows, most_points)) {
    const Index row[] = {i};
    const Matrix point = data.x.copy(row);
    regions.x.push_back(point(0, 0));
    regions.y.push_back(point(0, 1));
    const auto name = std::ranges::find(model.classes(), data.y->classes[at(data.y->index[at(i)])]);
    regions.cls.push_back(name - model.classes().begin());
  }
  return regions;
}

}  // namespace

bool has_inside(const Dataset& data, const Pipeline& pipeline) {
  constexpr std::string_view telling[] = {"logistic", "softmax", "probit", "poisson", "least_squares",
                                          "ridge",    "step",    "greedy", "tgreedy", "adaboost"};
  const std::string& last = pipeline.stages().back().method->name;
  return draws_regions(data) || std::ranges::find(telling, last) != std::end(telling);
}

WholeModel whole_model(const Dataset& data, const Pipeline& pipeline, const Context& context) {
  std::vector<Index> labelled;
  for (Index row = 0; row < data.rows(); ++row)
    if (!data.y->missing(row)) labelled.push_back(row);
  const Model model = Model::fit(pipeline, train_view(data, labelled, {}, context), data.schema, context);
  WholeModel whole;
  whole.pipeline = pipeline.text();
  whole.classes = model.classes();
  const Json inspected = model.inspect();
  const Json& stage = inspected["stages"].back();
  const std::vector<Index> rows = spread_over(labelled, most_looked_at);
  if (stage.contains("weights")) whole.effects = effects_of(stage, model.transform(batch(data, rows), context), data.x);
  whole.history = history_of(stage);
  whole.regions = regions_of(model, data, rows, context);
  return whole;
}

}  // namespace ecotone
