#include "ecotone/evaluate/columns/shuffled_column.h"

#include <algorithm>
#include <cmath>

#include "ecotone/data/row_weight.h"
#include "ecotone/data/storage/replaced_storage.h"
#include "ecotone/measure/metrics.h"

namespace ecotone {
namespace {

/// The number of each of the data's classes among the model's; classes that the model never saw follow them.
std::vector<std::int32_t> numbers_in_model(const std::vector<std::string>& classes, const Model& model) {
  std::vector<std::int32_t> numbers;
  auto unseen = static_cast<std::int32_t>(model.classes().size());
  for (const std::string& name : classes) {
    const auto found = std::ranges::find(model.classes(), name);
    numbers.push_back(found == model.classes().end() ? unseen++
                                                     : static_cast<std::int32_t>(found - model.classes().begin()));
  }
  return numbers;
}

}  // namespace

std::vector<ColumnPlace> column_places(const Dataset& data) {
  std::vector<ColumnPlace> places;
  Index first = 0;
  for (Column& column : data.table_columns()) {
    places.push_back({std::move(column), first});
    first += places.back().width();
  }
  return places;
}

Index ScoredSample::scored() const {
  return std::ranges::count_if(weight, [](double each) { return each > 0; });
}

ScoredSample scored_sample(const Model& model, const Dataset& data, std::span<const Index> rows) {
  const Labels& y = *data.y;
  ScoredSample sample;
  sample.rows = batch(data, rows);
  const std::vector<std::int32_t> number = numbers_in_model(y.classes, model);
  if (y.task == Task::regress) sample.value = Vector::Zero(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Index row = rows[i];
    const bool missing = y.missing(row);
    const double weight = data.weight.size() == 0 ? 1.0 : data.weight[row];
    require_weight(weight, data.schema.weight, origin_of(data.origin, row));
    sample.weight.push_back(missing ? 0.0 : weight);
    if (y.task == Task::classify) {
      sample.truth.push_back(missing ? 0 : number[at(y.index[at(row)])]);
    } else if (!missing) {
      sample.value[static_cast<Index>(i)] = y.value[row];
    }
  }
  return sample;
}

std::optional<double> sample_metric(std::string_view metric, const Prediction& prediction, const ScoredSample& sample) {
  if (sample.scored() == 0) return {};
  if (metric == "rmse") return rmse(sample.value, prediction.value, sample.weight);
  if (metric == "accuracy") return accuracy(sample.truth, prediction.index, sample.weight);
  return auroc(sample.truth, prediction.probability, sample.weight);
}

std::vector<double> shuffle_losses(const Model& model, const ScoredSample& sample, const ColumnPlace& place,
                                   std::string_view metric, std::optional<double> whole, int repeats, Random random,
                                   const Context& context) {
  const MetricInfo& info = *find_metric(metric);
  const Matrix own = values_of_columns(sample.rows.x, place.first, place.width(), context);
  std::vector<double> losses;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const std::vector<Index> order = random.permutation(own.rows());
    Matrix shuffled(own.rows(), own.cols());
    for (Index i = 0; i < own.rows(); ++i) shuffled.row(i) = own.row(order[at(i)]);
    Batch changed = sample.rows;
    changed.x = with_values(sample.rows.x, place.first, std::move(shuffled));
    const std::optional<double> value = sample_metric(metric, model.predict(changed, context), sample);
    losses.push_back(value && whole ? info.badness(*value) - info.badness(*whole) : std::nan(""));
  }
  return losses;
}

}  // namespace ecotone
