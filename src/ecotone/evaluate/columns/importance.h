#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/protocol.h"
#include "ecotone/methods/model.h"

namespace ecotone {

/// How much worse the models of one pipeline get on held-out rows when a column of the table is shuffled among them.
struct ColumnImportance {
  std::string column;
  std::vector<std::optional<double>> splits;  ///< in each split; empty where it is not defined
  std::optional<double> mean;                 ///< over the splits
  std::optional<double> spread;               ///< their standard deviation: how stable it is
};

/// What the models of a pipeline use, by the loss of it.
struct Importances {
  std::string metric;                     ///< that gets worse: auroc or rmse
  std::vector<std::string> splits;        ///< what was held out
  std::vector<ColumnImportance> columns;  ///< the most important first
  Index further_columns = 0;              ///< of the table, which were not looked at
};

/// Of one fitted model: what shuffling each column among at most `most_rows` labelled rows of the split costs, the mean
/// of five shuffles; NaN where not defined. Rows count by their weights. None for tables of more than 20,000 features.
std::vector<double> column_importance(const Model& model, const Dataset& data, const Split& split, Index most_rows,
                                      const Context& context);

/// Those of all splits together; `of_split` has the values of each, or none.
Importances importances_of(const Dataset& data, const std::vector<Split>& splits,
                           const std::vector<std::vector<double>>& of_split);

}  // namespace ecotone
