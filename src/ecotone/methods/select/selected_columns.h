#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/methods/sums/sums_route.h"
#include "ecotone/solve/paths/greedy.h"

namespace ecotone {

/// The entries of all lists, each once: the first of every list, then the second of every list, and so on.
std::vector<Index> in_turns(const std::vector<std::vector<Index>>& lists);
/// These columns with their names.
Features taken_columns(const Features& x, const std::vector<Index>& columns, const Context& context);

/// Features chosen by a path. As a learner it predicts their weighted sum; as a stage before others it passes on their
/// columns in order of selection. If none is taken, it passes on the first of the path, because the next stage cannot
/// learn from no column.
class SelectedColumns : public Fitted {
 public:
  Features transform(const Batch& batch, const Context& context) const override;
  Index output_cols(Index) const override { return std::ssize(passed_on()); }
  std::optional<std::vector<Index>> selected() const override { return passed_on(); }
  Prediction predict(const Batch& batch, const Context& context) const override;

 protected:
  /// The columns and weights at the end of a path.
  void take(Task task, const PathResult& path, std::optional<Index> first);
  /// Reads `weights` and `offset` of these columns, and `first`; file error `bad_model`.
  void load_columns(const StageState& state, const StageInput& input, std::vector<Index> support);
  /// The sums of the columns that transform passes on.
  RowSums passed_on_sums(const RowSums& sums) const;
  /// Info `first`, if any; a path with steps has none.
  void save_first(StageState& state) const;

  const std::vector<Index>& support() const { return support_; }
  const Vector& weights() const { return weights_; }
  double offset() const { return offset_; }

 private:
  Task task_ = Task::classify;
  std::vector<Index> support_;
  Vector weights_;  ///< of the support
  double offset_ = 0;
  std::optional<Index> first_;  ///< of the path, if no step was taken

  std::vector<Index> passed_on() const;
};

}  // namespace ecotone
