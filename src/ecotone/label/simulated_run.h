#pragma once

#include <optional>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/progress.h"
#include "ecotone/data/dataset.h"
#include "ecotone/label/estimate.h"
#include "ecotone/label/growing_model.h"
#include "ecotone/label/questions.h"
#include "ecotone/label/simulate.h"

/// One run of a simulation (simulate.h). Internal to label/.
namespace ecotone {

/// The rows of one run.
struct RunRows {
  std::vector<Index> known;     ///< labelled at the start
  std::vector<Index> pool;      ///< all that are not held out; ascending
  std::vector<Index> audit;     ///< of the pool, in the order in which they are asked
  std::vector<Index> askable;   ///< of the pool, by the strategy; ascending
  std::vector<Index> held_out;  ///< ascending
  Index questions = 0;          ///< the budget, or the rows of the pool if they are fewer
};
/// `run` is the context of the run: its seed decides the draws.
RunRows draw_run(const Dataset& data, const LabelRows& rows, const SimulateOptions& options, const Context& run);

/// A row with the reason why it was asked.
struct AskedRow {
  Index row = 0;
  Why why = Why::seed;
};

/// The model after some questions.
struct RunPoint {
  Index labels = 0;
  double value = 0;    ///< on the held-out rows
  bool fitted = true;  ///< false: only audits since the last fit
  std::optional<AuditEstimate> audit;
};

/// What happened in one run of one strategy.
struct RunCurve {
  std::vector<AskedRow> asked;
  std::vector<RunPoint> points;
};

/// The answers of models for some rows, compared with their labels.
class MarkedRows {
 public:
  MarkedRows(const Dataset& data, std::vector<Index> rows);

  const Batch& rows() const { return batch_; }
  /// Of each row: 0 if the class is right and 1 if it is wrong, or the predicted number minus the label.
  std::vector<double> errors(const Prediction& prediction, const std::vector<std::string>& classes) const;

 private:
  const Labels& y_;
  std::vector<Index> rows_;
  Batch batch_;
};

/// Accuracy or RMSE from the errors of MarkedRows.
double value_of_errors(Task task, std::span<const double> errors);

/// The value of the pipeline with all labels of the pool. Data error `needs_uncertainty` if one of the strategies needs
/// more than this model says.
double full_value(const Dataset& data, const Pipeline& pipeline, const RunRows& rows,
                  const std::vector<Strategy>& strategies, const Context& run);

/// Asks until the questions are used up or no row is left.
RunCurve run_strategy(const Dataset& data, const Pipeline& pipeline, const RunRows& rows, const Strategy& strategy,
                      const SimulateOptions& options, Progress& progress, const Context& run);

}  // namespace ecotone
