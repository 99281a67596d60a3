#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"

namespace ecotone {

/// Where the features of a column of the table are; those of a text column, one for each level, belong together.
struct ColumnPlace {
  Column column;
  Index first = 0;

  Index width() const { return static_cast<Index>(column.width()); }
};
std::vector<ColumnPlace> column_places(const Dataset& data);

/// Rows that a model predicts together, and the truth about those that it is scored on.
struct ScoredSample {
  Batch rows;
  std::vector<std::int32_t> truth;  ///< in the model's classes, those that it never saw beyond them; classification
  Vector value;                     ///< regression
  std::vector<double> weight;       ///< 0: not scored, as rows without a label are

  /// The rows that are scored.
  Index scored() const;
};
/// The rows in this order; the data need labels. Data errors are those of require_weight (row_weight.h).
ScoredSample scored_sample(const Model& model, const Dataset& data, std::span<const Index> rows);

/// The metric of a prediction of the sample: auroc, accuracy or rmse. Empty if it is not defined.
std::optional<double> sample_metric(std::string_view metric, const Prediction& prediction, const ScoredSample& sample);

/// By how much a model gets worse in a metric, which is `whole` on the sample, when the values of a column are shuffled
/// among its rows, once for each repeat; NaN where that is not defined.
std::vector<double> shuffle_losses(const Model& model, const ScoredSample& sample, const ColumnPlace& place,
                                   std::string_view metric, std::optional<double> whole, int repeats, Random random,
                                   const Context& context);

}  // namespace ecotone
