#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/solve/trees/forest.h"

namespace ecotone {

/// Options of forest.
struct ForestLearnerOptions {
  int trees = 300;
  AutoNumber min_rows;
  AutoNumber columns;
  int depth = 0;
  bool bootstrap = true;
  int max_bins = most_tree_bins;

  static constexpr auto fields() {
    using O = ForestLearnerOptions;
    return std::tuple{
        field("trees", &O::trees, "Trees; for more than two classes, so many for each", between(1, 100'000)),
        field("min_rows", &O::min_rows, "Fewest rows of a leaf; auto: 1 for classes, 5 for numbers", between(1, 1e9)),
        field("columns", &O::columns,
              "Columns drawn for a split; auto: the root of their number for classes, a third of them for numbers",
              between(1, 1e9)),
        field("depth", &O::depth, "Most splits above a leaf; 0: no limit", between(0, 1000)),
        field("bootstrap", &O::bootstrap, "Whether each tree sees a sample of the rows, drawn with replacement"),
        common_field("max_bins", &O::max_bins, "Most bins of a column", between(2, most_tree_bins))};
  }
};

/// A random forest.
class Forest : public Fitted {
 public:
  static StageResult fit(const TrainView& view, const ForestLearnerOptions& options, const Context& context, FitCache&);
  static std::shared_ptr<const Fitted> load(const StageState& state, const ForestLearnerOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  Task task_ = Task::classify;
  BoostedTrees model_;
  std::vector<TreeColumn> columns_;
  Vector importance_;  ///< sums of gains by column
};

}  // namespace ecotone
